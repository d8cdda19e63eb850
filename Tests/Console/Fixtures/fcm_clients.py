"""firebase_admin and pyfcm 2 against the simulated FCM: every call that docs/protocols.md §7.3 and §7.4 lists.

Arguments: the simulator's address, an RSA key (PEM file), a token that works, one of a removed app.
Prints one JSON object: what each call came to.
"""
import json
import sys
import warnings

warnings.simplefilter("ignore")
base, key_file, good, gone = sys.argv[1:5]
account = {
    "type": "service_account", "project_id": "simulator", "private_key_id": "0123456789abcdef",
    "private_key": open(key_file).read(), "client_email": "test@simulator.iam.gserviceaccount.com",
    "client_id": "1", "token_uri": base + "/token",
}
results = {}


def attempt(name, call):
    try:
        results[name] = call()
    except Exception as error:  # the class of the error is the result
        results[name] = type(error).__name__


def firebase():
    import firebase_admin
    from firebase_admin import credentials, messaging

    service = messaging._MessagingService
    service.FCM_URL = base + "/v1/projects/{0}/messages:send"
    service.IID_URL = base
    app = firebase_admin.initialize_app(credentials.Certificate(account))
    messaging._get_messaging_service(app)._fcm_topic_url = base + "/v1/projects/simulator/registrations"

    def message(token, text):
        android = messaging.AndroidConfig(
            collapse_key="k", priority="high", ttl=3600,
            notification=messaging.AndroidNotification(
                channel_id="orders", tag="t-" + text, color="#aabbcc", sound="default", priority="high",
                vibrate_timings_millis=[100, 200], light_settings=messaging.LightSettings("#aabbcc", 100, 200)))
        apns = messaging.APNSConfig(
            headers={"apns-priority": "10"}, payload=messaging.APNSPayload(aps=messaging.Aps(badge=3)))
        return messaging.Message(
            token=token, notification=messaging.Notification(title=text, body="body"), data={"type": "follow"},
            android=android, apns=apns, webpush=messaging.WebpushConfig(headers={"TTL": "60"}),
            fcm_options=messaging.FCMOptions(analytics_label="a"))

    def names(response):
        return [one.success or type(one.exception).__name__ for one in response.responses]

    attempt("send", lambda: messaging.send(message(good, "one")).startswith("projects/simulator/messages/0:"))
    attempt("fid", lambda: bool(messaging.send(messaging.Message(fid=good.split(":")[0], data={"a": "b"}))))
    attempt("dry_run", lambda: messaging.send(message(good, "dry"), dry_run=True))
    attempt("removed", lambda: messaging.send(message(gone, "gone")))
    attempt("malformed", lambda: messaging.send(message("nonsense", "x")))
    attempt("too_big", lambda: messaging.send(messaging.Message(token=good, data={"a": "x" * 5000})))
    attempt("each", lambda: names(messaging.send_each([message(good, "each"), message(gone, "each")])))
    attempt("each_many", lambda: messaging.send_each([message(good, "n%d" % n) for n in range(100)]).success_count)
    multicast = messaging.MulticastMessage(tokens=[good, gone], data={"a": "b"})
    attempt("multicast", lambda: names(messaging.send_each_for_multicast(multicast)))

    def topics(call, *arguments):
        answer = call(*arguments)
        return [answer.success_count, answer.failure_count, [error.reason for error in answer.errors]]

    attempt("subscribe", lambda: topics(messaging.subscribe_to_topic, [good, gone], "news"))
    attempt("subscribe_again", lambda: topics(messaging.subscribe_to_topic, good, "news"))
    attempt("topic", lambda: bool(messaging.send(messaging.Message(topic="news", data={"to": "topic"}))))
    condition = "'news' in topics && !('sport' in topics)"
    attempt("condition", lambda: bool(messaging.send(messaging.Message(condition=condition, data={"to": "condition"}))))
    attempt("unsubscribe_legacy", lambda: topics(messaging.unsubscribe_from_topic_legacy, [good], "news"))
    attempt("subscribe_legacy", lambda: topics(messaging.subscribe_to_topic_legacy, [good, gone], "sport"))
    attempt("unsubscribe", lambda: topics(messaging.unsubscribe_from_topic, [good, gone], "sport"))


def pyfcm():
    from pyfcm import FCMNotification

    FCMNotification.FCM_END_POINT_BASE = base + "/v1/projects"
    path = key_file + ".json"
    with open(path, "w") as file:
        json.dump(account, file)
    client = FCMNotification(service_account_file=path, project_id="simulator")
    attempt("py_notify", lambda: client.notify(
        fcm_token=good, notification_title="py", notification_body="body", data_payload={"a": "b"},
        android_config={"priority": "high"})["name"].startswith("projects/simulator/messages/0:"))
    attempt("py_dry_run", lambda: client.notify(fcm_token=good, notification_title="dry", dry_run=True)["name"])
    attempt("py_removed", lambda: client.notify(fcm_token=gone, notification_title="gone"))
    attempt("py_malformed", lambda: client.notify(fcm_token="nonsense", notification_title="x"))
    attempt("py_topic", lambda: bool(client.notify(topic_name="news")))
    attempt("py_condition", lambda: bool(client.notify(topic_condition="'news' in topics", notification_title="c")))
    attempt("py_many", lambda: [
        "name" in (one or {}) for one in client.async_notify_multiple_devices(
            [{"fcm_token": good, "notification_title": "a"}, {"fcm_token": good, "notification_title": "b"}])])


firebase()
pyfcm()
print(json.dumps(results))
