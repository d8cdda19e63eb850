"""pyfcm 1.5.4, the legacy protocol, against the simulator or the console: every call that docs/protocols.md §7.5 lists.

Arguments: an address, a token that works, one of a removed app, one that was replaced, and a server key.
Prints one JSON object: what each call came to.
"""
import json
import sys

from pyfcm import FCMNotification
from pyfcm.baseapi import BaseAPI

base, good, gone, replaced = sys.argv[1:5]
key = sys.argv[5] if len(sys.argv) > 5 else "server-key"
BaseAPI.FCM_END_POINT = base + "/fcm/send"
client = FCMNotification(api_key=key)
results = {}


def attempt(name, call):
    try:
        results[name] = call()
    except Exception as error:  # the class of the error is the result
        results[name] = type(error).__name__


def brief(answer):
    outcomes = [one.get("error") or one.get("registration_id") or "ok" for one in answer["results"]]
    return [answer["success"], answer["failure"], answer["canonical_ids"], outcomes, answer["multicast_ids"] != [0]]


attempt("single", lambda: brief(client.notify_single_device(
    registration_id=good, message_title="legacy", message_body="body", data_message={"a": 1}, collapse_key="k",
    time_to_live=60, android_channel_id="orders", tag="t")))
attempt("single_data", lambda: brief(client.single_device_data_message(registration_id=good, data_message={"a": "b"})))
attempt("multiple", lambda: brief(client.notify_multiple_devices(
    registration_ids=[good, gone, "nonsense"], message_title="many")))
attempt("multiple_data", lambda: brief(client.multiple_devices_data_message(
    registration_ids=[good, gone], data_message={"a": "b"})))
attempt("replaced", lambda: brief(client.notify_single_device(registration_id=replaced, message_title="canonical")))
attempt("dry_run", lambda: brief(client.notify_single_device(registration_id=good, message_title="dry", dry_run=True)))
attempt("topic", lambda: client.notify_topic_subscribers(topic_name="news", message_title="topic")["topic_message_id"] > 0)
attempt("condition", lambda: client.notify_topic_subscribers(
    condition="'news' in topics", message_title="condition")["topic_message_id"] > 0)
attempt("topic_data", lambda: client.topic_subscribers_data_message(
    topic_name="news", data_message={"a": "b"})["topic_message_id"] > 0)
attempt("reserved", lambda: brief(client.notify_single_device(
    registration_id=good, message_title="x", data_message={"google.x": "y"})))
attempt("life", lambda: brief(client.notify_single_device(
    registration_id=good, message_title="x", time_to_live=2419200)))
attempt("package", lambda: brief(client.notify_single_device(
    registration_id=good, message_title="x", restricted_package_name="com.example.other")))
attempt("over_1000", lambda: client.notify_multiple_devices(
    registration_ids=[good] + ["unknown-%d" % n for n in range(1000)], message_title="x")["success"])
print(json.dumps(results))
