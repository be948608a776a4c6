/*
 * The table of the offset-tracking state machine, to be read aloud: in state IN, on event ON, go
 * to TO, doing DOING.  What is not here does not happen.
 */
#ifndef KRC_OFFSETS_TABLE_H
#define KRC_OFFSETS_TABLE_H

#define KRC_OFFSET_STATES(X)                                                                  \
    X(UNASSIGNED, "the partition is not read")                                                \
    X(LOADING, "the committed offset is being looked up")                                     \
    X(VALIDATING, "it is being asked where the leader epochs read end in the log")            \
    X(MEASURING, "the position was out of range; it is being asked what the range is")        \
    X(LOCATING, "the offset to start at is being looked up")                                  \
    X(FETCHING, "the position is known and what lies there is being read")                    \
    X(ENDED, "the end that was asked for is reached")                                         \
    X(FAILED, "the position holds until the application acts")

/*
 * Name, what it must match to count (else it comes too late and is a counted no-op), meaning.
 *   NOTHING  it stands for itself
 *   ASK      it answers a question: the generation of the update that asked
 *   STRETCH  it speaks of offsets of one stretch, which a seek or a new history ends
 */
#define KRC_OFFSET_EVENTS(X)                                                                  \
    X(ASSIGN_OFFSET, NOTHING, "read from a given offset; from any state, a seek")             \
    X(ASSIGN_START, NOTHING, "read from the log start")                                       \
    X(ASSIGN_END, NOTHING, "read from the end of what is visible")                            \
    X(ASSIGN_STORED, NOTHING, "read from the committed offset")                               \
    X(UNASSIGN, NOTHING, "read no more")                                                      \
    X(STORED, ASK, "a committed offset was found, with its leader epoch")                     \
    X(STORED_NO_EPOCH, ASK, "a committed offset was found, without a leader epoch")           \
    X(VALID, ASK, "the position's leader epoch reaches at least to the position")             \
    X(EPOCH_UNKNOWN, ASK, "the log does not know the epoch: the fetch will tell")             \
    X(DIVERGED, ASK, "the log lacks that epoch, and has one that was not read: ask further back") \
    X(OUT_OF_RANGE, ASK, "the position is not within the log")                                \
    X(INSIDE, ASK, "it is within the log after all")                                          \
    X(NEW_EPOCH, NOTHING, "another leader epoch began; told where the position has one")        \
    X(RESET_HERE, ASK, "go on at a known offset")                                             \
    X(RESET_START, ASK, "go on at the log start")                                             \
    X(RESET_END, ASK, "go on at the end")                                                     \
    X(RESET_TIME, ASK, "go on at a point in time")                                            \
    X(RESET_REFUSED, ASK, "the policy allows no reset")                                       \
    X(LOCATED, ASK, "the offset looked for was found")                                        \
    X(BATCH, ASK, "a batch at the position was handed on")                                    \
    X(PASSED, ASK, "a stretch at the position holds nothing to hand on")                      \
    X(CAUGHT_UP, ASK, "nothing more is visible for now")                                      \
    X(END, ASK, "the end that was asked for")                                                 \
    X(RETRY, ASK, "the question could not be answered: ask again")                            \
    X(ERROR, ASK, "the position cannot be read")                                              \
    X(ACK, STRETCH, "everything below an offset is done with")                                \
    X(COMMITTED, STRETCH, "an acknowledged offset is on disk")

/* clang-format off */
/* T(IN,       ON,              TO,         DOING)                                              */
#define KRC_OFFSET_TABLE(T)                                                                       \
  T(UNASSIGNED, ASSIGN_OFFSET,   FETCHING,   go_to)                                               \
  T(UNASSIGNED, ASSIGN_START,    LOCATING,   ask_start)                                           \
  T(UNASSIGNED, ASSIGN_END,      LOCATING,   ask_end)                                             \
  T(UNASSIGNED, ASSIGN_STORED,   LOADING,    ask_stored)                                          \
                                                                                                  \
  T(LOADING,    STORED,          VALIDATING, resume_and_ask_epoch_end)                            \
  T(LOADING,    STORED_NO_EPOCH, FETCHING,   resume)                                              \
  T(LOADING,    RESET_START,     LOCATING,   resume_and_ask_start)                                \
  T(LOADING,    RESET_END,       LOCATING,   resume_and_ask_end)                                  \
  T(LOADING,    RESET_TIME,      LOCATING,   resume_and_ask_time)                                 \
  T(LOADING,    RESET_REFUSED,   FAILED,     resume_and_stop)                                     \
  T(LOADING,    RETRY,           LOADING,    ask_stored)                                          \
                                                                                                  \
  T(VALIDATING, VALID,           FETCHING,   fetch)                                               \
  T(VALIDATING, EPOCH_UNKNOWN,   FETCHING,   fetch)                                               \
  T(VALIDATING, DIVERGED,        VALIDATING, ask_earlier_epoch_end)                               \
  T(VALIDATING, RESET_HERE,      FETCHING,   reset)                                               \
  T(VALIDATING, RESET_START,     LOCATING,   ask_start_for_reset)                                 \
  T(VALIDATING, RESET_END,       LOCATING,   ask_end_for_reset)                                   \
  T(VALIDATING, RESET_TIME,      LOCATING,   ask_time_for_reset)                                  \
  T(VALIDATING, RESET_REFUSED,   FAILED,     stop)                                                \
  T(VALIDATING, NEW_EPOCH,       VALIDATING, ask_epoch_end)                                       \
  T(VALIDATING, RETRY,           VALIDATING, ask_epoch_end)                                       \
                                                                                                  \
  T(MEASURING,  INSIDE,          FETCHING,   fetch)                                               \
  T(MEASURING,  RESET_HERE,      FETCHING,   reset)                                               \
  T(MEASURING,  RESET_START,     LOCATING,   ask_start_for_reset)                                 \
  T(MEASURING,  RESET_END,       LOCATING,   ask_end_for_reset)                                   \
  T(MEASURING,  RESET_TIME,      LOCATING,   ask_time_for_reset)                                  \
  T(MEASURING,  RESET_REFUSED,   FAILED,     stop)                                                \
  T(MEASURING,  NEW_EPOCH,       MEASURING,  ask_range)                                           \
  T(MEASURING,  RETRY,           MEASURING,  ask_range)                                           \
                                                                                                  \
  T(LOCATING,   LOCATED,         FETCHING,   arrive)                                              \
  T(LOCATING,   RESET_START,     LOCATING,   ask_start_for_reset)                                 \
  T(LOCATING,   RESET_END,       LOCATING,   ask_end_for_reset)                                   \
  T(LOCATING,   RESET_TIME,      LOCATING,   ask_time_for_reset)                                  \
  T(LOCATING,   RESET_REFUSED,   FAILED,     stop)                                                \
  T(LOCATING,   NEW_EPOCH,       LOCATING,   ask_again)                                           \
  T(LOCATING,   RETRY,           LOCATING,   ask_again)                                           \
                                                                                                  \
  T(FETCHING,   BATCH,           FETCHING,   advance)                                             \
  T(FETCHING,   PASSED,          FETCHING,   pass)                                                \
  T(FETCHING,   CAUGHT_UP,       FETCHING,   fetch)                                               \
  T(FETCHING,   RETRY,           FETCHING,   fetch)                                               \
  T(FETCHING,   END,             ENDED,      stop)                                                \
  T(FETCHING,   OUT_OF_RANGE,    MEASURING,  ask_range)                                           \
  T(FETCHING,   NEW_EPOCH,       VALIDATING, ask_epoch_end)                                       \
  T(FETCHING,   RESET_START,     LOCATING,   ask_start_for_reset)                                 \
  T(FETCHING,   RESET_END,       LOCATING,   ask_end_for_reset)                                   \
  T(FETCHING,   RESET_TIME,      LOCATING,   ask_time_for_reset)                                  \
  T(FETCHING,   RESET_REFUSED,   FAILED,     stop)                                                \
                                                                                                  \
  T(ENDED,      NEW_EPOCH,       ENDED,      keep)                                                \
  T(FAILED,     NEW_EPOCH,       FAILED,     keep)                                                \
                                                                                                  \
  T(LOADING,    ERROR,           FAILED,     stop)                                                \
  KRC_OFFSET_TABLE_OF_ASSIGNED(T, LOADING)                                                        \
  KRC_OFFSET_TABLE_OF_READ(T, VALIDATING)                                                         \
  KRC_OFFSET_TABLE_OF_READ(T, MEASURING)                                                          \
  KRC_OFFSET_TABLE_OF_READ(T, LOCATING)                                                           \
  KRC_OFFSET_TABLE_OF_READ(T, FETCHING)                                                           \
  KRC_OFFSET_TABLE_OF_HELD(T, ENDED)                                                              \
  KRC_OFFSET_TABLE_OF_HELD(T, FAILED)

/* A partition that is being read can also break. */
#define KRC_OFFSET_TABLE_OF_READ(T, STATE)                                                        \
  T(STATE,      ERROR,           FAILED,     stop)                                                \
  KRC_OFFSET_TABLE_OF_HELD(T, STATE)

/* Where records were handed on, they may be acknowledged, whatever has happened since. */
#define KRC_OFFSET_TABLE_OF_HELD(T, STATE)                                                        \
  T(STATE,      ACK,             STATE,      acknowledge)                                         \
  T(STATE,      COMMITTED,       STATE,      note_commit)                                         \
  KRC_OFFSET_TABLE_OF_ASSIGNED(T, STATE)

/* Whatever an assigned partition is doing, the application may seek and let go. */
#define KRC_OFFSET_TABLE_OF_ASSIGNED(T, STATE)                                                    \
  T(STATE,      ASSIGN_OFFSET,   FETCHING,   go_to)                                               \
  T(STATE,      ASSIGN_START,    LOCATING,   ask_start)                                           \
  T(STATE,      ASSIGN_END,      LOCATING,   ask_end)                                             \
  T(STATE,      ASSIGN_STORED,   LOADING,    ask_stored)                                          \
  T(STATE,      UNASSIGN,        UNASSIGNED, let_go)
/* clang-format on */

#endif
