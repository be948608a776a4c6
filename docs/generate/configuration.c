/*
 * Prints docs/configuration.md from the table of properties.
 */
#include <krc.h>
#include <stdio.h>

int main(void)
{
    struct krc_property p;
    puts("# Configuration\n\n<!-- Printed from consumer/config.c by `make docs`; not to be edited. "
         "-->\n\nProperties of `krc_config_set`, of the command's `-X name=value`, and of the Java "
         "properties files that `-F` and `krc_config_load` read; `krc read -X list` prints them "
         "too.\n\n| property | values | default | meaning |\n|---|---|---|---|");
    for (size_t i = 0; krc_config_property(i, &p); i++)
        printf("| `%s` | %s | %s | %s |\n", p.name, p.type,
               p.default_value[0] ? p.default_value : "(none)", p.meaning);
    return 0;
}
