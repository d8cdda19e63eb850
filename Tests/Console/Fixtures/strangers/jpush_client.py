"""Calls everything that JPush's own client for Python offers, against the API that is compatible with JPush."""

import sys

import jpush
from jpush import common
from jpush.schedule.schedulepayload import schedulepayload, trigger

address, key, secret = sys.argv[1:]
url = address + '/v3/'
common.ZONES['SIGNALBOX'] = dict(
    PUSH=url, REPORT=url, DEVICE=url + 'devices/', ALIAS=url + 'aliases/', TAG=url + 'tags/',
    SCHEDULE=url + 'schedules/', ADMIN=address + '/v1/')
client = jpush.JPush(key, secret, zone='signalbox')


def expect(found, wanted, what):
    assert found == wanted, '%s: %r, expected %r' % (what, found, wanted)


def code(call):
    try:
        call()
    except common.JPushFailure as failure:
        return failure.error_code
    return None


# Pushes
def push(**more):
    made = client.create_push()
    made.platform = jpush.all_
    made.audience = jpush.all_
    made.notification = jpush.notification(alert='Hello')
    for name, value in more.items():
        setattr(made, name, value)
    return made


first = push().send().payload
assert first['msg_id'].isdigit() and first['sendno'] == '0', first
full = push(
    platform=jpush.platform('ios', 'android'),
    audience=jpush.audience(jpush.tag('a', 'x'), jpush.tag_and('b'), jpush.registration_id('r1', 'r2')),
    notification=jpush.notification(
        alert='Hi', ios=jpush.ios(alert={'title': 't', 'body': 'b'}, badge='+1', extras={'k': 'v'}),
        android=jpush.android(alert='Hi', title='t', builder_id=1, extras={'k': 'v'})),
    message=jpush.message('body', title='t', content_type='text', extras={'k': 'v'}),
    options={'sendno': 7, 'time_to_live': 60, 'apns_production': True}).send().payload
expect(full['sendno'], '7', 'sendno')
silent = push(notification=jpush.notification(ios=jpush.ios(alert='', sound_disable=True, content_available=True)))
assert silent.send().payload['msg_id'].isdigit()
assert push().send_validate().payload['msg_id'].isdigit()
expect(code(push(audience=jpush.audience(jpush.alias('nobody'))).send), 1011, 'nobody')
expect(code(push(platform=None).send), 1002, 'no platform')
expect(code(push(audience=None).send), 1002, 'no audience')
expect(code(push(options=jpush.options({'apns_production': False})).send), 1009, 'options.options')
expect(code(push(smsmessage=jpush.smsmessage('1', 60)).send), 2007, 'sms_message')
expect(code(push(notification=jpush.notification(winphone=jpush.winphone('x'))).send), 2007, 'winphone')
cids = push().get_cid(2).payload['cidlist']
expect(len(cids), 2, 'cids')
expect(len(push().get_cid(3, 'schedule').payload['cidlist']), 3, 'cids of schedules')
again = push(cid=cids[0]).send().payload
expect(push(cid=cids[0]).send().payload, again, 'the same cid')


def single(target):
    return {'platform': 'ios', 'target': target, 'notification': {'ios': {'alert': 'One'}}}


batch = push().batch_push_by_regid([single('r1'), single('none')]).payload
expect(sorted('error' in answer for answer in batch.values()), [False, True], 'batch')
batch = push().batch_push_by_alias([single('anna')]).payload
expect(['msg_id' in answer for answer in batch.values()], [True], 'batch by alias')
try:
    members = jpush.GroupPush(key, secret)
    members.zone = 'signalbox'
    group = members.create_push()
    group.platform, group.audience, group.notification = jpush.all_, jpush.all_, jpush.notification(alert='x')
    group.send()
    raise AssertionError('group pushes are not offered')
except (common.Unauthorized, common.JPushFailure):
    pass

# Devices
device = client.create_device()
expect(device.get_deviceinfo('r1').payload, {'tags': ['a'], 'alias': 'anna', 'mobile': None}, 'device')
expect(
    device.set_deviceinfo('r1', dict(jpush.device_tag(jpush.add('深圳'), jpush.remove('a')), **jpush.device_alias('usr_1'))
                          ).payload, 'success', 'change')
expect(device.get_deviceinfo('r1').payload['tags'], ['深圳'], 'tags')
expect(device.set_deviceinfo('r1', jpush.device_tag('')).payload, 'success', 'clear')
# Taken, and not used.
expect(device.set_devicemobile('r1', jpush.device_mobile('13800000000')).payload, 'success', 'mobile')
expect(device.get_device_status(['r1']).payload['r1'], {'online': True}, 'status')
expect(device.update_tagusers('深圳', jpush.device_regid(jpush.add('r1', 'r2'))).payload, 'success', 'tag')
expect(device.check_taguserexist('深圳', 'r2').payload, {'result': True}, 'tag of a device')
assert '深圳' in device.get_taglist().payload['tags']
expect(device.delete_tag('深圳', 'ios').payload, 'success', 'tag deleted')
expect(device.get_aliasuser('usr_1', 'ios,android').payload, {'registration_ids': ['r1']}, 'alias')
expect(device.delete_alias('usr_1').payload, 'success', 'alias deleted')
expect(device.get_aliasuser('usr_1').payload, {'registration_ids': []}, 'alias is gone')
expect(code(lambda: device.get_aliasuser('a-b')), 7002, 'a forbidden character')

# Reports
report = client.create_report()
ids = '%s,%s' % (first['msg_id'], full['msg_id'])
expect([one['msg_id'] for one in report.get_received(ids).payload], ids.split(','), 'received')
expect(len(report.get_received_detail(ids).payload), 2, 'received, in detail')
expect(len(report.get_messages(ids).payload), 2, 'messages')
expect(len(report.get_messages_detail(ids).payload), 2, 'messages, in detail')
assert report.get_status_message(int(first['msg_id']), ['r1', 'none']).payload['none'] == {'status': 2}
expect(len(report.get_users('DAY', '2026-11-20', 2).payload['items']), 2, 'users')
expect(code(lambda: report.get_users('DAY', '2026-11', 2)), 3004, 'start')

# Schedules
schedule = client.create_schedule()
once = trigger('2027-01-01 09:00:00')
made = schedule.post_schedule(schedulepayload('name_1', True, once, push().payload)).payload
identifier = made['schedule_id']
expect(schedule.get_schedule_by_id(identifier).payload['trigger'], once, 'schedule')
expect(schedule.get_schedule_list('1').payload['total_count'], 1, 'schedules')
changed = schedule.put_schedule(schedulepayload(name='name_2'), identifier).payload
expect(changed['name'], 'name_2', 'changed')
weekly = trigger('12:00:00', '2026-12-01 00:00:00', '2026-12-31 00:00:00', 'week', 1, ['MON', 'FRI'])
other = schedule.post_schedule(schedulepayload('weekly', True, weekly, push().payload)).payload['schedule_id']
expect(schedule.delete_schedule(other).payload, 'success', 'weekly')
expect(schedule.delete_schedule(identifier).payload, 'success', 'deleted')
expect(code(lambda: schedule.get_schedule_by_id(identifier)), 8104, 'gone')

try:
    jpush.JPush(key, 'x' * 24, zone='signalbox').create_device().get_taglist()
    raise AssertionError('a wrong secret must be refused')
except common.Unauthorized:
    pass
