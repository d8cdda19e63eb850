"""JPush's own client for Python against the simulated JPush; prints what came back as one line of JSON."""

import json
import sys
import time

import jpush
from jpush import common
from jpush.schedule import schedulepayload

address, phone, iphone = sys.argv[1:]
url = address + '/v3/'
common.ZONES['SIMULATOR'] = dict(
    PUSH=url, REPORT=url, DEVICE=url + 'devices/', ALIAS=url + 'aliases/', TAG=url + 'tags/',
    SCHEDULE=url + 'schedules/', ADMIN=address + '/v1/')
client = jpush.JPush('8103a4c628a0b98994ec1949', '711261d45f174d2fa8555e5a', zone='simulator')
results = {}


def push(**more):
    made = client.create_push()
    made.platform = jpush.all_
    made.audience = jpush.all_
    made.notification = jpush.notification(alert='Hello')
    made.options = {'apns_production': False}
    for name, value in more.items():
        setattr(made, name, value)
    return made


def code(call):
    try:
        call()
    except common.Unauthorized:
        return 'unauthorized'
    except common.JPushFailure as failure:
        return failure.error_code
    return None


everyone = push().send()
results['send'] = everyone.payload['msg_id'].isdigit()
results['limit'] = push().send_validate().payload['msg_id'].isdigit()
device = client.create_device()
device.set_deviceinfo(phone, dict(jpush.device_tag(jpush.add('vip', '深圳')), **jpush.device_alias('usr_1')))
results['device'] = device.get_deviceinfo(phone).payload
results['tags'] = device.get_taglist().payload
results['tagged'] = device.check_taguserexist('深圳', phone).payload
results['alias'] = device.get_aliasuser('usr_1', 'android,ios').payload
results['status'] = device.get_device_status([phone, 'none']).payload if hasattr(device, 'get_device_status') else None
one = push(audience=jpush.audience(jpush.alias('usr_1'), jpush.tag('vip')),
           notification=jpush.notification(android=jpush.android(alert='Tagged', title='t', extras={'k': 'v'})))
results['tagged_send'] = one.send().payload['sendno']
results['ios'] = push(
    audience=jpush.audience(jpush.registration_id(iphone)),
    notification=jpush.notification(ios=jpush.ios(alert={'title': 'a', 'body': 'b'}, badge=3, extras={'k': 'v'}))
).send().payload['msg_id'].isdigit()
results['nobody'] = code(push(audience=jpush.audience(jpush.alias('nobody'))).send)
results['nested'] = code(push(options=jpush.options({'apns_production': False})).send)
cid = push().get_cid(1).payload['cidlist'][0]
results['cid'] = push(cid=cid).send().payload == push(cid=cid).send().payload
batch = push().batch_push_by_regid([
    {'platform': 'all', 'target': phone, 'notification': {'alert': 'Batch'}},
    {'platform': 'all', 'target': 'none', 'notification': {'alert': 'Batch'}}]).payload
results['batch'] = sorted('msg_id' in answer for answer in batch.values())
report = client.create_report()
results['report'] = report.get_received(everyone.payload['msg_id']).payload[0]['android_received']
results['detail'] = report.get_received_detail(everyone.payload['msg_id']).payload[0]['ios_apns_sent']
summary = report.get_messages(everyone.payload['msg_id']).payload[0]
results['messages'] = summary['android']['received']
day = time.strftime('%Y-%m-%d', time.gmtime(time.time() + 8 * 3600))
results['users'] = report.get_users('DAY', day, '1').payload['items'][0]['android']['online']
soon = time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(time.time() + 8 * 3600 + 2))
later = time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(time.time() + 8 * 3600 + 86400))
schedule = client.create_schedule()


def task(name, when):
    single = push(notification=jpush.notification(alert=name))
    return schedulepayload.schedulepayload(
        name=name, enabled=True, trigger={'single': {'time': when}}, push=single.payload)


first = schedule.post_schedule(task('Soon', soon)).payload['schedule_id']
second = schedule.post_schedule(task('Later', later)).payload['schedule_id']
results['schedules'] = schedule.get_schedule_list(1).payload['total_count']
schedule.put_schedule({'name': 'Much_later'}, second)
results['renamed'] = schedule.get_schedule_by_id(second).payload['name']
schedule.delete_schedule(second)
results['deleted'] = code(lambda: schedule.get_schedule_by_id(second))
results['first'] = first
device.delete_alias('usr_1')
device.delete_tag('vip')
results['gone'] = [device.get_aliasuser('usr_1').payload, device.get_deviceinfo(phone).payload['tags']]
print(json.dumps(results))
