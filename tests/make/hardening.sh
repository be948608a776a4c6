#!/bin/sh
# scripts/hardening names what a binary lacks.

me=tests/make/hardening.sh
. tests/cmd/common

# harden STATUS ERR NAME FLAGS: of a program, or a library where it is called so, that copies a text
harden() {
    cat >"$dir/copy.c" <<'END'
#include <stdio.h>
#include <string.h>
#ifdef LIBRARY
#define main copy
#endif
int main(int count, char **texts)
{
    char text[100];
    strncpy(text, texts[0], sizeof text - 1 + (unsigned)count / 1000);
    return puts(text);
}
END
    # shellcheck disable=SC2086
    ${CC:-cc} -w -O2 -U_FORTIFY_SOURCE $4 "$dir/copy.c" -o "$dir/$3"
    scripts/hardening "$dir/$3" 2>"$dir/err"
    same "exit status for $3 $4" "$1" $?
    same "what $3 $4 lacks" "$2" "$(sed "s#hardening: $dir/$3 ##" "$dir/err")"
}

whole='-fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIC -Wl,-z,relro,-z,now'
harden 0 '' program "$whole -pie"
harden 0 '' library.so "$whole -DLIBRARY -shared"
harden 0 '' library.a "$whole -DLIBRARY -c"
harden 1 'has no stack protector' program "$whole -pie -fno-stack-protector"
harden 1 'calls nothing of _FORTIFY_SOURCE' library.a "$whole -DLIBRARY -c -U_FORTIFY_SOURCE"
harden 1 'is not position-independent' program "$whole -no-pie"
harden 1 'has no RELRO' program "$whole -pie -Wl,-z,norelro"
harden 1 'binds symbols late: RELRO is partial' library.so "$whole -DLIBRARY -shared -Wl,-z,lazy"
harden 1 'has an executable stack' program "$whole -pie -Wl,-z,execstack"
