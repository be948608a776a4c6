/*
 * A committed offset's metadata, which anybody may have written: what is read of it is written and
 * read again the same.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/lineage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct krc_lineage lineage, again;
    char *text = strndup((const char *)data, size);
    if (text == NULL)
        return 0;
    krc_lineage_read(&lineage, text);
    free(text);
    text = krc_lineage_write(&lineage);
    if (text == NULL)
        return 0;
    krc_lineage_read(&again, text);
    free(text);
    if (again.count != lineage.count || (lineage.count > 0 && again.is_cut != lineage.is_cut))
        abort();
    for (int i = 0; i < lineage.count; i++)
        if (strcmp(lineage.stretches[i].sink, again.stretches[i].sink) != 0 ||
            lineage.stretches[i].from != again.stretches[i].from)
            abort();
    return 0;
}
