#!/bin/sh
# scripts/setup on machines that have no root, no sudo or no apt.

me=tests/make/setup.sh
. tests/cmd/common
mkdir "$dir/bin"

# stub NAME LINES: a command of that name, beside which there are none
stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"
    chmod +x "$dir/bin/$1"
}

# setup STATUS OUT ERR ARGUMENTS...
setup() {
    status=$1 out=$2 err=$3
    shift 3
    PATH=$dir/bin /bin/sh scripts/setup "$@" >"$dir/out" 2>"$dir/err"
    same "exit status of setup $*" "$status" $?
    same "output of setup $*" "$out" "$(cat "$dir/out")"
    same "errors of setup $*" "$err" "$(cat "$dir/err")"
}

setup 1 '' 'setup: this machine has no apt; README.md names the packages on other systems' build

stub dpkg-query 'case $4 in libuv1-dev | jq) exit 1 ;; esac; echo installed'
stub id 'echo 1000'
setup 1 '' 'setup: missing packages: libuv1-dev
setup: neither root nor sudo; as root: apt-get install libuv1-dev' build
setup 1 '' 'setup: missing packages: libuv1-dev jq
setup: neither root nor sudo; as root: apt-get install libuv1-dev jq'
setup 0 '' '' brokers # nothing of it is missing

stub sudo 'echo "sudo $*" >&2'
setup 0 'installing: libuv1-dev' 'sudo apt-get update -qq
sudo apt-get install -y -qq --no-install-recommends libuv1-dev' build
stub id 'echo 0'
stub apt-get 'echo "apt-get $*" >&2'
setup 0 'installing: libuv1-dev' 'apt-get update -qq
apt-get install -y -qq --no-install-recommends libuv1-dev' build
