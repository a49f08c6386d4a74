# Sourced by mvnw and scripts/deltafin. find_jdk NEED sets $jdk to the home of a JDK of at least that version:
# JAVA_HOME first, then the places where installers put them. Empty when there is none.

jdk_major() { "$1/bin/java" -version 2>&1 | sed -n '1s/.*version "\([0-9]*\).*/\1/p'; }

jdk_fits() { [ -x "$1/bin/javac" ] && m=$(jdk_major "$1") && [ -n "$m" ] && [ "$m" -ge "$2" ]; }

find_jdk() {
  jdk=
  if [ -n "${JAVA_HOME:-}" ] && jdk_fits "$JAVA_HOME" "$1"; then jdk=$JAVA_HOME; return; fi
  if [ -x /usr/libexec/java_home ]; then
    h=$(/usr/libexec/java_home -v "$1+" 2>/dev/null || true)
    if [ -n "$h" ] && jdk_fits "$h" "$1"; then jdk=$h; return; fi
  fi
  for h in /usr/lib/jvm/*"$1"* /usr/lib/jvm/* "${SDKMAN_DIR:-$HOME/.sdkman}"/candidates/java/* "$HOME"/.jdks/* /opt/jdk*; do
    if [ -d "$h" ] && jdk_fits "$h" "$1"; then jdk=$h; return; fi
  done
}

# require_jdk NEED NAME: the same, or one sentence on stderr and exit 2.
require_jdk() {
  find_jdk "$1"
  [ -n "$jdk" ] || {
    echo "$2: no JDK $1 or newer found. Install one of any vendor (for example temurin-$1-jdk or openjdk-$1-jdk) and set JAVA_HOME to it." >&2
    exit 2
  }
}
