/*
 * The application's wish that what runs shall end (krc_config_set_interrupt).
 */
#ifndef KRC_BASE_INTERRUPT_H
#define KRC_BASE_INTERRUPT_H

#include "base/error.h"

struct krc_interrupt {
    krc_interrupt_fn *is_asked; /* NULL: never */
    void *arg;
};

static inline bool krc_is_interrupted(const struct krc_interrupt *interrupt)
{
    return interrupt != NULL && interrupt->is_asked != NULL &&
           interrupt->is_asked(interrupt->arg);
}

/* KRC_E_INTERRUPTED, where it is; `doing` is what then was under way. */
static inline int krc_check_interrupt(const struct krc_interrupt *interrupt, const char *doing,
                                      krc_error *error)
{
    return krc_is_interrupted(interrupt)
               ? krc_fail(error, KRC_E_INTERRUPTED, "stopped while %s", doing)
               : KRC_OK;
}

#endif
