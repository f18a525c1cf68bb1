# Builds the test programs of Go packages and puts them aside; nothing that is graded runs here.
#
# Run as `sh -c <this text> adjudge GO MODE BUILD-OPTION... -- PACKAGE...`. What was found is printed, a line each:
# the version, packages with their folders and files, and the test functions. Then each package's test program is
# built by `go test` itself and taken from it instead of being run, and the test files are removed: by the time
# the code under test runs, the only copy of its tests is inside of the program.
set -u
go=$1 mode=$2
shift 2
place=/tmp/adjudge-go
mkdir -p "$place/bin"
printf '@version\t%s\n' "$("$go" env GOVERSION 2>&1)"

options=''
while [ "$#" -gt 0 ] && [ "$1" != -- ]; do
    options="$options $1"
    shift
done
shift
# Options are of the recipe and have been looked at: no blanks, no patterns.
# shellcheck disable=SC2086
"$go" list -e $options -f '@package{{"\t"}}{{.ImportPath}}{{"\t"}}{{.Dir}}{{"\t"}}{{join .TestGoFiles "|"}}{{"\t"}}{{join .XTestGoFiles "|"}}' "$@"
"$go" list -e $options -deps -test -f '{{if not .Standard}}{{$folder := .Dir}}{{range .EmbedFiles}}@embedded{{"\t"}}{{$folder}}/{{.}}{{"\n"}}{{end}}{{end}}' "$@"
printf '@listed\t%s\n' "$?"
find . -name '*_test.go' -type f -exec grep -HoE '^func (Test|Example|Fuzz)[^[:space:](]*\(' {} + |
    sed 's/^/@function	/'
library=/tmp/adjudge-go-library
if [ "$mode" = list ]; then
    # Since Go 1.20 the standard library is not delivered built. Its packages, and nothing else, are built here,
    # where the code under test is not, so that each session need not do it again.
    if [ -d "$library" ] && [ ! -f "$("$go" env GOROOT)/pkg/$("$go" env GOOS)_$("$go" env GOARCH)/fmt.a" ]; then
        "$go" list -e $options -deps -test -f '{{if .Standard}}{{.ImportPath}}{{end}}' "$@" |
            GOCACHE=$library xargs "$go" build $options
    fi
    exit 0
fi
[ ! -d "$library" ] || { mkdir -p "$GOCACHE" && cp -r "$library/." "$GOCACHE/"; }

cat >"$place/take" <<'TAKE'
#!/bin/sh
mkdir -p "/tmp/adjudge-go/bin$PWD" && { ln "$1" "/tmp/adjudge-go/bin$PWD/" || cp "$1" "/tmp/adjudge-go/bin$PWD/"; }
TAKE
chmod +x "$place/take"
"$go" test $options -vet=off -count=1 -buildvcs=false -exec "$place/take" "$@"
printf '@built\t%s\n' "$?"
find . -name '*_test.go' ! -type d -exec rm -f {} +
