#!/bin/sh
# make install: a program is built against what it installs, and runs once the line was typed that
# it says.  BUILD is what is installed, TEST_CFLAGS how that was built.

me=tests/make/install.sh
. tests/cmd/common
PREFIX=$dir/usr

make --no-print-directory install PREFIX="$PREFIX" >"$dir/out" 2>"$dir/err"
same 'exit status of make install' 0 $?
line="export LD_LIBRARY_PATH=$PREFIX/lib"
same 'its last line' "to let programs find libkrc.so.0, type: $line" "$(tail -n 1 "$dir/out")"
same 'the command' "$(sed -n 's/^#define KRC_VERSION "\(.*\)"/krc \1/p' include/krc.h)" \
    "$("$PREFIX/bin/krc" --version)"

PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046,SC2086
${CC:-cc} $TEST_CFLAGS examples/checksum.c $(pkg-config --cflags --libs krc) -o "$dir/checksum"
same 'exit status of the compiler' 0 $?
unset LD_LIBRARY_PATH
"$dir/checksum" "$LOGS" txns >/dev/null 2>&1
same 'the program before the line' 127 $?
eval "$line"
same 'the program after it' 1 "$("$dir/checksum" "$LOGS" txns 2>/dev/null | grep -c '^228 records')"

# ---- into a package nothing is to be typed for
make --no-print-directory install DESTDIR="$dir/package" PREFIX=/usr >"$dir/out" 2>"$dir/err"
same 'exit status with DESTDIR' 0 $?
same 'nothing is said' '' "$(grep 'to let programs' "$dir/out")"
same 'the library' libkrc.so.0 "$(readlink "$dir/package/usr/lib/libkrc.so")"

# ---- where the loader looks
mkdir "$dir/bin"
stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"
    chmod +x "$dir/bin/$1"
}
loader() { # loader OUT LIB
    same "the loader, $2" "$1" "$(PATH=$dir/bin:$PATH scripts/loader "$2")"
}
stub ldconfig 'case "$*" in "-N -X -v") echo "/opt/lib: (from somewhere)" ;; *) echo "ran$*" ;; esac'
stub id 'echo 0'
loader 'ran' /opt/lib
loader 'to let programs find libkrc.so.0, type: export LD_LIBRARY_PATH=/opt' /opt
stub id 'echo 1000'
loader 'to let programs find libkrc.so.0, type: sudo ldconfig' /opt/lib
