"""A provider of OpenID Connect on loopback: oidc-provider-mock, with Authlib's check of PKCE.

    oidc_provider.py FILE

Writes its address into FILE, serves one person, and ends after POST /stop.
"""

import os
import sys
import threading

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc7636 import CodeChallenge
from oidc_provider_mock import _app as mock
from werkzeug.serving import make_server

register_grant = AuthorizationServer.register_grant
save_code = mock.AuthorizationCodeGrant.save_authorization_code


def with_challenge(server, grant, extensions=None):
    if grant is mock.AuthorizationCodeGrant:
        extensions = [*extensions, CodeChallenge(required=True)]
    register_grant(server, grant, extensions)


def with_its_challenge(grant, code, request):
    save_code(grant, code, request)
    kept = mock.storage.get_authorization_code(code)
    for name in ("code_challenge", "code_challenge_method"):
        object.__setattr__(kept, name, request.payload.data.get(name))


AuthorizationServer.register_grant = with_challenge
mock.AuthorizationCodeGrant.save_authorization_code = with_its_challenge

person = mock.User(sub="f3a1", claims={"email": "anna@example.com", "email_verified": True, "groups": ["ops"]})
app = mock.app(require_nonce=True, user_claims=[person])
server = make_server("127.0.0.1", 0, app, threaded=True)


@app.post("/stop")
def stop():
    threading.Thread(target=server.shutdown).start()
    return ""


with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"http://127.0.0.1:{server.server_port}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
