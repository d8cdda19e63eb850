"""Sends pushes through the client that openapi-python-client made of the document, and reads the answers."""

import sys

address, token, app, folder = sys.argv[1:]
sys.path.insert(0, folder)

from client import AuthenticatedClient
from client.api.pushes import count_audience, create_push, get_push
from client.models import (
    All, AudienceCountInput, AudienceCountInputEnvironment, AudienceRule, CreatePushResponse200, Notification, Platform,
    Push, PushInput, PushInputEnvironment, PushOptions, Repeat, RepeatEvery, Schedule,
)

client = AuthenticatedClient(base_url=address, token=token, raise_on_unexpected_status=True)


def send(**more):
    body = PushInput(
        app=app, environment=PushInputEnvironment.DEVELOPMENT, notification=Notification(title="Generated"),
        **{"audience": All.ALL, **more})
    return create_push.sync(client=client, body=body)


push = send(platforms=[Platform.IOS])
assert isinstance(push, Push) and push.kind == "push", push
assert [platform.value for platform in push.platforms] == ["ios"], push.platforms
assert push.draft.platforms == [Platform.IOS] and push.draft.audience == All.ALL, push.draft
assert push.draft.notification.title == "Generated", push.draft
assert get_push.sync(push.id, client=client).id == push.id
for platforms in (All.ALL, None):
    assert isinstance(send(platforms=platforms), Push)
few = send(audience=AudienceRule(tag=["odd"]))
assert isinstance(few, Push) and few.audience.tag == ["odd"], few

schedule = send(repeat=Repeat(every=RepeatEvery.DAY, at="09:00", time_zone="Europe/Berlin"))
assert isinstance(schedule, Schedule) and schedule.kind == "schedule", schedule
assert isinstance(send(options=PushOptions(dry_run=True)), CreatePushResponse200)

count = count_audience.sync(client=client, body=AudienceCountInput(
    app=app, environment=AudienceCountInputEnvironment.DEVELOPMENT, audience=All.ALL, platforms=All.ALL))
assert count.reachable == 5 and count.platforms.ios == 5, count
