/*
 * Committed offsets as text.  What is read and written again reads the same.
 */
#include <stdlib.h>
#include <string.h>

#include <krc-tools.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const krc_committed_list *list, bool json, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);
    if (json)
        krc_committed_write_json(list, out);
    else
        krc_committed_write_csv(list, true, out);
    fclose(out);
    return text;
}

static void check_round_trip(const krc_committed_list *list, bool json)
{
    krc_committed_list *again = krc_committed_new();
    size_t len, len_again;
    char *text = written(list, json, &len);
    if (krc_committed_parse(again, text, len, NULL, NULL) < 0)
        abort();
    char *text_again = written(again, json, &len_again);
    if (len != len_again || memcmp(text, text_again, len) != 0)
        abort();
    free(text);
    free(text_again);
    krc_committed_free(again);
}

static bool has_line_ends(const krc_committed_list *list)
{
    const struct krc_committed *row;
    for (size_t i = 0; (row = krc_committed_at(list, i)) != NULL; i++)
        if (strchr(row->group, '\n') != NULL)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    krc_committed_list *list = krc_committed_new();
    if (krc_committed_parse(list, (const char *)data, size, NULL, NULL) == KRC_OK) {
        check_round_trip(list, true);
        if (!has_line_ends(list)) /* which only JSON can carry */
            check_round_trip(list, false);
    }
    krc_committed_free(list);
    return 0;
}
