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

# icalendar and vobject, two strangers' readers, check the calendar feed in the same way.
if [ -x .build/python/bin/python3 ] && ! .build/python/bin/python3 -c 'import icalendar, vobject' 2>/dev/null; then
  .build/python/bin/pip install --quiet --disable-pip-version-check 'icalendar==7.3.0' 'vobject==0.9.9' ||
    echo "${0##*/}: icalendar and vobject could not be installed; their test will be skipped" >&2
fi
if .build/python/bin/python3 -c 'import icalendar, vobject' 2>/dev/null; then
  export SIGNALBOX_TEST_CALENDARS="$PWD/.build/python/bin/python3"
fi
