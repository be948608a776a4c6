#ifndef KRC_TESTS_MODEL_ELECTIONS_H
#define KRC_TESTS_MODEL_ELECTIONS_H

#include "offsets/offsets.h"

/* Walks it, marks the rows of the table that were reached, and says how much it was. */
void model_elections(bool row_seen[KRC_OFFSET_STATE_COUNT][KRC_OFFSET_EVENT_COUNT]);

#endif
