#include <string.h>

#include "consumer/cluster_check.h"
#include "consumer/handle.h"
#include <krc-tools.h>

static int check_groups(const krc_committed_list *list, struct krc_store *store, const krc *source,
                        krc_error *error)
{
    const struct krc_committed *row, *before = NULL;
    for (size_t i = 0; (row = krc_committed_at(list, i)) != NULL; before = row, i++)
        if (before == NULL || strcmp(before->group, row->group) != 0)
            KRC_TRY(krc_check_cluster(store, row->group, krc_cluster_name(source), error));
    return KRC_OK;
}

int krc_committed_check_cluster(const krc_committed_list *list, const char *store,
                                const krc *source, krc_error *error)
{
    struct krc_store *opened;
    KRC_TRY(krc_store_open(&opened, store, KRC_STORE_READ_ONLY, error));
    int rc = check_groups(list, opened, source, error);
    krc_store_close(opened);
    return rc;
}
