"""APNs, FCM with its token service, and JPush in one HTTP/2 server on h2 and PyJWT.

services.py FOLDER: reads server.key, server.pem, apns.p8 and fcm.key there; writes its port to `port`, and each request
to `seen` as a line of JSON. A token that ends with `dead` is unknown, one that ends with `beef` is refused once.
"""

import base64
import json
import os
import pathlib
import socket
import ssl
import sys
import threading
import urllib.parse

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded

folder = pathlib.Path(sys.argv[1])
lock = threading.Lock()
busy = set()
device = {'tags': ['old'], 'alias': 'usr_old'}
subscribed = set()


def public(name):
    return load_pem_private_key((folder / name).read_bytes(), None).public_key()


apns_key, fcm_key = public('apns.p8'), public('fcm.key')


def is_busy(token):
    with lock:
        if not token.endswith('beef') or token in busy:
            return False
        busy.add(token)
        return True


def apns(path, fields, message):
    scheme, token = fields['authorization'].split(' ')
    claims = jwt.decode(token, apns_key, algorithms=['ES256'], options={'verify_iat': False})
    if scheme != 'bearer' or claims['iss'] != 'TEAM123456' or jwt.get_unverified_header(token)['kid'] != 'ABCDE12345':
        return 403, {'reason': 'InvalidProviderToken'}
    if fields['apns-topic'] != 'com.example.shop' or 'aps' not in message:
        return 400, {'reason': 'BadTopic'}
    if path.endswith('dead'):
        return 410, {'reason': 'Unregistered', 'timestamp': 1900000000000}
    return (429, {'reason': 'TooManyRequests'}) if is_busy(path) else (200, None)


def fcm_error(status, code):
    kind = 'type.googleapis.com/google.firebase.fcm.v1.FcmError'
    return status, {'error': {'code': status, 'status': code, 'details': [{'@type': kind, 'errorCode': code}]}}


def fcm(method, path, fields, message):
    if fields['authorization'] != 'Bearer ya29.python':
        return 401, {'error': {'code': 401, 'status': 'UNAUTHENTICATED'}}
    if path.endswith('/messages:send'):
        token = message['message']['token']
        if token.endswith('dead'):
            return fcm_error(404, 'UNREGISTERED')
        return fcm_error(503, 'UNAVAILABLE') if is_busy(token) else (200, {'name': 'projects/shop/messages/1'})
    token, topic = urllib.parse.unquote(path.split('/')[5]), path.split('topic_name=')[-1]
    if token.endswith('dead'):
        return fcm_error(404, 'UNREGISTERED')
    if method == 'POST' and token in subscribed:
        return 409, {'error': {'code': 409, 'status': 'ALREADY_EXISTS'}}
    (subscribed.add if method == 'POST' else subscribed.discard)(token)
    return 200, {'topic_name': topic}


def exchange(form):
    assertion = urllib.parse.parse_qs(form)['assertion'][0]
    claims = jwt.decode(assertion, fcm_key, algorithms=['RS256'], options={'verify_aud': False, 'verify_iat': False})
    if 'firebase.messaging' not in claims['scope']:
        return 400, {'error': 'invalid_scope'}
    return 200, {'access_token': 'ya29.python', 'expires_in': 3599, 'token_type': 'Bearer'}


def jpush(method, path, fields, message):
    pair = base64.b64decode(fields['authorization'].removeprefix('Basic ')).decode()
    if pair != 'a' * 24 + ':' + 'b' * 24:
        return 401, {'error': {'code': 1004, 'message': 'basic authentication failed'}}
    if path in ('/v3/push', '/v3/push/validate'):
        if message['options']['apns_production']:
            return 400, {'error': {'code': 1003, 'message': 'wrong environment'}}
        return 200, {'sendno': '0', 'msg_id': '18100287008546711'}
    if path.startswith('/v3/devices/'):
        if method == 'GET':
            return 200, device
        tags = message.get('tags') or {}
        device['alias'] = message.get('alias', device['alias'])
        device['tags'] = sorted((set(device['tags']) | set(tags.get('add', []))) - set(tags.get('remove', [])))
        return 200, None
    if path.startswith('/v3/received'):
        return 200, []
    return 404, {'error': {'code': 1003, 'message': 'no such call'}}


def answer(fields, body):
    method, path = fields[':method'], fields[':path']
    if path == '/token':
        return exchange(body.decode())
    message = json.loads(body) if body else None
    with lock, open(folder / 'seen', 'a') as seen:
        seen.write(json.dumps({'method': method, 'path': path, 'body': message}) + '\n')
    if path.startswith('/3/device/'):
        return apns(path, fields, message)
    service = fcm if path.startswith('/v1/projects/') else jpush
    return service(method, path, fields, message)


def serve(raw):
    connection = context.wrap_socket(raw, server_side=True)
    session = H2Connection(H2Configuration(client_side=False, header_encoding='utf-8'))
    session.initiate_connection()
    connection.sendall(session.data_to_send())
    requests = {}
    while data := connection.recv(65536):
        for event in session.receive_data(data):
            if isinstance(event, RequestReceived):
                requests[event.stream_id] = [dict(event.headers), b'']
            elif isinstance(event, DataReceived):
                requests[event.stream_id][1] += event.data
                session.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, StreamEnded):
                fields, body = requests.pop(event.stream_id)
                try:
                    status, json_body = answer(fields, body)
                except Exception as error:  # what is wrong shows in the test's counts and in `seen`
                    status, json_body = 500, {'reason': repr(error)}
                text = b'' if json_body is None else json.dumps(json_body).encode()
                head = [(':status', str(status)), ('content-type', 'application/json')]
                session.send_headers(event.stream_id, head, end_stream=not text)
                if text:
                    session.send_data(event.stream_id, text, end_stream=True)
        connection.sendall(session.data_to_send())


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder / 'server.pem', folder / 'server.key')
context.set_alpn_protocols(['h2'])
listener = socket.create_server(('127.0.0.1', 0))
(folder / 'port.new').write_text(str(listener.getsockname()[1]))
os.rename(folder / 'port.new', folder / 'port')
while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
