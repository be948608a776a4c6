#include "base/pattern.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a step does.  All but these two go on with the step behind them. */
enum step_type {
    STEP_FORK, /* goes on in both places... */
    STEP_JUMP, /* ...or in the first, both relative */
    STEP_CHAR, /* takes that character */
    STEP_SET,  /* takes one of that set */
    STEP_BEGIN,
    STEP_END,
    STEP_WORD_BEGIN,
    STEP_WORD_END,
    STEP_WORD_EDGE,
    STEP_NO_WORD_EDGE,
    STEP_MATCH,
};

struct step {
    uint8_t type, character;
    int32_t to, other; /* SET: to is its number */
};

struct set {
    uint8_t has[32]; /* a bit for each character */
};

struct krc_pattern {
    struct step *steps;
    size_t count, capacity;
    struct set *sets;
    size_t set_count;
    /* of a match: the steps it may be at, before and after a character, and those seen */
    uint32_t *now, *next, *stack, *seen;
    uint32_t round;
};

/* While a text is read. */
struct reader {
    struct krc_pattern *pattern;
    const char *at, *text;
    int depth;
    bool ignores_case;
    krc_error *error;
};

static int fail(const struct reader *r, const char *why)
{
    return krc_fail(r->error, KRC_E_INVALID, "invalid regular expression \"%.300s\": %s", r->text,
                    why);
}

static const char unknown_letter[] =
    "of letters behind a backslash there are \\d \\s \\w \\b and their capitals: write other "
    "characters as they are, or in [ ]";

/* ---- Steps ---------------------------------------------------------------------------------- */

/* Room for so many steps at `at`; what lies there, and all behind it, moves on. */
static int insert(struct reader *r, size_t at, size_t count)
{
    struct krc_pattern *p = r->pattern;
    if (count > KRC_PATTERN_STEPS - p->count)
        return fail(r, "its repetitions make it too large");
    if (p->count + count > p->capacity) {
        size_t capacity = p->count + count + p->capacity / 2 + 16;
        struct step *steps = realloc(p->steps, capacity * sizeof *steps);
        if (steps == NULL)
            return krc_fail_nomem(r->error, capacity * sizeof *steps);
        p->steps = steps;
        p->capacity = capacity;
    }
    memmove(&p->steps[at + count], &p->steps[at], (p->count - at) * sizeof *p->steps);
    p->count += count;
    return KRC_OK;
}

static int put(struct reader *r, size_t at, struct step step)
{
    KRC_TRY(insert(r, at, 1));
    r->pattern->steps[at] = step;
    return KRC_OK;
}

static int append(struct reader *r, enum step_type type, uint8_t character)
{
    return put(r, r->pattern->count, (struct step){.type = (uint8_t)type, .character = character});
}

/* The steps from `from` on may be left out. */
static int make_optional(struct reader *r, size_t from)
{
    int32_t len = (int32_t)(r->pattern->count - from);
    return put(r, from, (struct step){.type = STEP_FORK, .to = 1, .other = len + 1});
}

/* They are done once more, or not. */
static int make_loop(struct reader *r, size_t from)
{
    int32_t len = (int32_t)(r->pattern->count - from);
    return put(r, r->pattern->count, (struct step){.type = STEP_FORK, .to = -len, .other = 1});
}

/* They are there once more. */
static int copy(struct reader *r, size_t from, size_t len)
{
    struct krc_pattern *p = r->pattern;
    KRC_TRY(insert(r, p->count, len));
    memcpy(&p->steps[p->count - len], &p->steps[from], len * sizeof *p->steps);
    return KRC_OK;
}

/* `most` -1: without end. */
static int repeat(struct reader *r, size_t from, int least, int most)
{
    struct krc_pattern *p = r->pattern;
    size_t len = p->count - from;
    if (most == 0 || len == 0) { /* nothing, as often as it may be */
        p->count = from;
        return KRC_OK;
    }
    for (int i = 1; i < least; i++)
        KRC_TRY(copy(r, from, len));
    if (most < 0)
        KRC_TRY(make_loop(r, p->count - len));
    if (least == 0)
        KRC_TRY(make_optional(r, from));
    size_t body = least == 0 ? from + 1 : from;
    size_t first = p->count; /* each of the others may be the last: they fork to the end */
    int others = most < 0 ? 0 : most - (least > 0 ? least : 1);
    for (int i = 0; i < others; i++) {
        KRC_TRY(append(r, STEP_FORK, 0));
        KRC_TRY(copy(r, body, len));
    }
    for (size_t at = first; at < p->count; at += len + 1) {
        p->steps[at].to = 1;
        p->steps[at].other = (int32_t)(p->count - at);
    }
    return KRC_OK;
}

/* ---- Sets of characters --------------------------------------------------------------------- */

static void add(struct set *set, int c)
{
    set->has[c / 8] |= (uint8_t)(1 << c % 8);
}

static void invert(struct set *set)
{
    for (size_t i = 0; i < sizeof set->has; i++)
        set->has[i] = (uint8_t)~set->has[i];
}

static bool has(const struct set *set, int c)
{
    return set->has[c / 8] >> c % 8 & 1;
}

static void add_other_cases(struct set *set)
{
    for (int c = 'a'; c <= 'z'; c++)
        if (has(set, c) || has(set, toupper(c))) {
            add(set, c);
            add(set, toupper(c));
        }
}

static int append_set(struct reader *r, const struct set *set)
{
    struct krc_pattern *p = r->pattern;
    struct set *sets = realloc(p->sets, (p->set_count + 1) * sizeof *sets);
    if (sets == NULL)
        return krc_fail_nomem(r->error, (p->set_count + 1) * sizeof *sets);
    p->sets = sets;
    sets[p->set_count] = *set;
    return put(r, p->count, (struct step){.type = STEP_SET, .to = (int32_t)p->set_count++});
}

static bool is_word(int c)
{
    return isalnum(c) || c == '_';
}

static int is_word_class(int c)
{
    return is_word(c);
}

static void add_class(struct set *set, int (*is_in)(int c))
{
    for (int c = 1; c < 128; c++)
        if (is_in(c))
            add(set, c);
}

/* \d, \s, \w, and their opposites. */
static const char class_letters[] = "dDsSwW";

static void add_letter_class(struct set *set, char c)
{
    struct set class = {{0}};
    add_class(&class, tolower(c) == 'd' ? isdigit : tolower(c) == 's' ? isspace : is_word_class);
    if (isupper(c))
        invert(&class);
    for (size_t i = 0; i < sizeof class.has; i++)
        set->has[i] |= class.has[i];
}

static int append_class(struct reader *r, char c)
{
    struct set set = {{0}};
    add_letter_class(&set, c);
    return append_set(r, &set);
}

static bool is_letter_class(const char *at)
{
    return at[0] == '\\' && at[1] != '\0' && strchr(class_letters, at[1]) != NULL;
}

static const struct {
    const char *name;
    int (*is_in)(int c);
} classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
               {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
               {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};

/* "[:NAME:]" at the reader. */
static int add_named_class(struct reader *r, struct set *set)
{
    const char *name = r->at + 2, *end = strstr(name, ":]");
    for (size_t i = 0; end != NULL && i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == (size_t)(end - name) &&
            memcmp(classes[i].name, name, (size_t)(end - name)) == 0) {
            add_class(set, classes[i].is_in);
            r->at = end + 2;
            return KRC_OK;
        }
    return fail(r, end == NULL ? "a [ without its ]" : "there is no such class of characters");
}

/* A character, one behind a backslash, "[.C.]" or "[=C=]". */
static int read_element(struct reader *r, bool takes_hyphen, int *c)
{
    const char *at = r->at;
    if (at[0] == '\0')
        return fail(r, "a [ without its ]");
    if (at[0] == '\\') {
        if (at[1] == '\0' || isalnum((uint8_t)at[1]))
            return fail(r, unknown_letter);
        *c = (uint8_t)at[1];
        r->at += 2;
        return KRC_OK;
    }
    if (at[0] == '[' && (at[1] == '.' || at[1] == '=')) {
        if (at[2] == '\0' || at[3] != at[1] || at[4] != ']')
            return fail(r, "a collating element is not one character");
        *c = (uint8_t)at[2];
        r->at += 5;
        return KRC_OK;
    }
    if (at[0] == '-' && !takes_hyphen && at[1] != ']')
        return fail(r, "a range without its begin");
    *c = (uint8_t)at[0];
    r->at++;
    return KRC_OK;
}

static int add_range(struct reader *r, struct set *set, bool is_first)
{
    int from, to;
    bool is_equivalence = r->at[0] == '[' && r->at[1] == '=';
    KRC_TRY(read_element(r, is_first, &from));
    to = from;
    if (r->at[0] == '-' && r->at[1] != ']' && r->at[1] != '\0') {
        r->at++;
        if ((r->at[0] == '[' && (r->at[1] == ':' || r->at[1] == '=')) || is_letter_class(r->at))
            return fail(r, "a range that ends with a class");
        KRC_TRY(read_element(r, true, &to));
        if (is_equivalence || to < from)
            return fail(r, "a range whose end comes before its begin");
    }
    for (int c = from; c <= to; c++)
        add(set, c);
    return KRC_OK;
}

/* "[...]", behind the first [. */
static int read_set(struct reader *r)
{
    struct set set = {{0}};
    bool is_inverse = r->at[0] == '^';
    r->at += is_inverse;
    for (const char *first = r->at; r->at[0] != ']' || r->at == first;) {
        if (is_letter_class(r->at)) {
            add_letter_class(&set, r->at[1]);
            r->at += 2;
            continue;
        }
        bool is_class = r->at[0] == '[' && r->at[1] == ':';
        int rc = is_class ? add_named_class(r, &set) : add_range(r, &set, r->at == first);
        KRC_TRY(rc);
    }
    r->at++;
    if (r->ignores_case)
        add_other_cases(&set);
    if (is_inverse)
        invert(&set);
    return append_set(r, &set);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int append_char(struct reader *r, char c)
{
    struct set set = {{0}};
    if (!r->ignores_case || !isalpha((uint8_t)c))
        return append(r, STEP_CHAR, (uint8_t)c);
    add(&set, (uint8_t)c);
    add_other_cases(&set);
    return append_set(r, &set);
}

/* Behind the backslash.  `*repeats`: it may be repeated. */
static int read_escape(struct reader *r, bool *repeats)
{
    static const char edges[] = "`'<>bB";
    static const enum step_type types[] = {STEP_BEGIN,    STEP_END,       STEP_WORD_BEGIN,
                                           STEP_WORD_END, STEP_WORD_EDGE, STEP_NO_WORD_EDGE};
    char c = *r->at;
    if (c == '\0')
        return fail(r, "a backslash without a character");
    if (c >= '1' && c <= '9')
        return fail(r, "a reference back, which is not taken");
    r->at++;
    if (strchr(class_letters, c) != NULL)
        return append_class(r, c);
    const char *edge = strchr(edges, c);
    *repeats = edge == NULL;
    if (edge == NULL && isalnum((uint8_t)c))
        return fail(r, unknown_letter);
    return edge != NULL ? append(r, types[edge - edges], 0) : append_char(r, c);
}

static int read_either(struct reader *r);

/* "(?i)", "(?i:" and "(?:", behind the (.  1: it is the first, and over. */
static int read_option(struct reader *r)
{
    bool ignores_case = strncmp(r->at, "?i", 2) == 0;
    const char *end = r->at + 1 + ignores_case;
    if (*end != ':' && (*end != ')' || !ignores_case))
        return fail(r, "behind (? only i and : are known, as in (?i) and (?:a|b)");
    r->ignores_case |= ignores_case;
    r->at = end + 1;
    return *end == ')';
}

/* Behind the (. */
static int read_group(struct reader *r, bool *repeats)
{
    bool before = r->ignores_case;
    int rc = *r->at == '?' ? read_option(r) : 0;
    *repeats = rc == 0;
    if (rc != 0)
        return rc < 0 ? rc : KRC_OK;
    if (r->depth == KRC_PATTERN_DEPTH)
        return fail(r, "too many ( in each other");
    r->depth++;
    KRC_TRY(read_either(r));
    r->depth--;
    r->ignores_case = before;
    if (*r->at != ')')
        return fail(r, "a ( without its )");
    r->at++;
    return KRC_OK;
}

static int read_any(struct reader *r)
{
    struct set all;
    memset(&all, 0xFF, sizeof all);
    return append_set(r, &all);
}

/* One thing, without what repeats it. */
static int read_one(struct reader *r, bool *repeats)
{
    char c = *r->at++;
    *repeats = c != '^' && c != '$';
    switch (c) {
    case '^':
        return append(r, STEP_BEGIN, 0);
    case '$':
        return append(r, STEP_END, 0);
    case '.':
        return read_any(r);
    case '[':
        return read_set(r);
    case '(':
        return read_group(r, repeats);
    case '\\':
        return read_escape(r, repeats);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(r, "a repetition of nothing");
    default:
        return append_char(r, c);
    }
}

/* A number, -1 where there is none. */
static int read_number(struct reader *r)
{
    enum { MOST = 0x7FFF };
    int number = -1;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (number <= MOST)
            number = (number < 0 ? 0 : number) * 10 + (*r->at - '0');
    return number > MOST ? MOST + 1 : number;
}

/* "{M,N}", behind the {. */
static int read_interval(struct reader *r, size_t from)
{
    enum { MOST = 0x7FFF };
    int least = read_number(r), most = least;
    if (*r->at == ',') {
        r->at++;
        most = read_number(r);
        if (least < 0 && most < 0)
            return fail(r, "a { without a number");
        least = least < 0 ? 0 : least;
    }
    if (*r->at != '}' || least < 0)
        return fail(r, "a { without a number, or without its }");
    r->at++;
    if (most >= 0 && most < least)
        return fail(r, "a repetition whose end comes before its begin");
    if (least > MOST || most > MOST)
        return fail(r, "a repetition of more than 32767 times");
    return repeat(r, from, least, most);
}

/* Those that follow each other are one: all + or all ? are the same, and others are a *. */
static int read_marks(struct reader *r, size_t from)
{
    char mark = *r->at++;
    for (; *r->at == '*' || *r->at == '+' || *r->at == '?'; r->at++)
        if (*r->at != mark)
            mark = '*';
    return repeat(r, from, mark == '+', mark == '?' ? 1 : -1);
}

static int read_repetitions(struct reader *r, size_t from)
{
    for (;;) {
        char c = *r->at;
        if (c == '*' || c == '+' || c == '?') {
            KRC_TRY(read_marks(r, from));
        } else if (c == '{') {
            r->at++;
            KRC_TRY(read_interval(r, from));
        } else {
            return KRC_OK;
        }
    }
}

/* Up to a | or the end. */
static int read_branch(struct reader *r)
{
    while (*r->at != '\0' && *r->at != '|' && (*r->at != ')' || r->depth == 0)) {
        size_t from = r->pattern->count;
        bool repeats;
        KRC_TRY(read_one(r, &repeats));
        if (repeats)
            KRC_TRY(read_repetitions(r, from));
    }
    return KRC_OK;
}

/* Each branch but the last begins with a fork to the next, and ends with a jump to the end, which
 * until that is known leads to the jump before. */
static int read_either(struct reader *r)
{
    struct krc_pattern *p = r->pattern;
    size_t from = p->count;
    int32_t jump = -1;
    KRC_TRY(read_branch(r));
    while (*r->at == '|') {
        int32_t len = (int32_t)(p->count - from);
        KRC_TRY(put(r, from, (struct step){.type = STEP_FORK, .to = 1, .other = len + 2}));
        KRC_TRY(put(r, p->count, (struct step){.type = STEP_JUMP, .to = jump}));
        jump = (int32_t)p->count - 1;
        from = p->count;
        r->at++;
        KRC_TRY(read_branch(r));
    }
    for (int32_t before; jump >= 0; jump = before) {
        before = p->steps[jump].to;
        p->steps[jump].to = (int32_t)p->count - jump;
    }
    return KRC_OK;
}

static int make_lists(struct krc_pattern *p, krc_error *error)
{
    size_t size = (p->count + 1) * sizeof *p->now;
    p->now = malloc(size);
    p->next = malloc(size);
    p->stack = malloc(2 * size);
    p->seen = calloc(p->count + 1, sizeof *p->seen);
    return p->now == NULL || p->next == NULL || p->stack == NULL || p->seen == NULL
               ? krc_fail_nomem(error, 5 * size)
               : KRC_OK;
}

int krc_pattern_new(krc_pattern **out, const char *text, krc_error *error)
{
    struct krc_pattern *p = calloc(1, sizeof *p);
    if (p == NULL)
        return krc_fail_nomem(error, sizeof *p);
    struct reader r = {.pattern = p, .at = text, .text = text, .error = error};
    int rc = read_either(&r);
    if (rc >= 0)
        rc = append(&r, STEP_MATCH, 0);
    if (rc >= 0)
        rc = make_lists(p, error);
    if (rc < 0)
        krc_pattern_free(p);
    else
        *out = p;
    return rc;
}

void krc_pattern_free(krc_pattern *p)
{
    if (p == NULL)
        return;
    free(p->steps);
    free(p->sets);
    free(p->now);
    free(p->next);
    free(p->stack);
    free(p->seen);
    free(p);
}

/* ---- Matching ------------------------------------------------------------------------------- */

/* The place in the name: the characters before and behind it, 0 at its ends. */
struct place {
    int before, behind;
    bool is_begin, is_end;
};

static bool holds(const struct step *step, const struct place *at)
{
    bool before = is_word(at->before), behind = is_word(at->behind);
    switch ((enum step_type)step->type) {
    case STEP_BEGIN:
        return at->is_begin;
    case STEP_END:
        return at->is_end;
    case STEP_WORD_BEGIN:
        return !before && behind;
    case STEP_WORD_END:
        return before && !behind;
    case STEP_WORD_EDGE:
        return before != behind;
    case STEP_NO_WORD_EDGE:
        return before == behind;
    default:
        return true;
    }
}

/* Adds a step to the list, and where it leads without a character; true: to the end. */
static bool reach(struct krc_pattern *p, uint32_t first, const struct place *at, uint32_t *list,
                  size_t *count)
{
    size_t depth = 0;
    p->stack[depth++] = first;
    while (depth > 0) {
        uint32_t number = p->stack[--depth];
        const struct step *step = &p->steps[number];
        if (p->seen[number] == p->round)
            continue;
        p->seen[number] = p->round;
        if (step->type == STEP_MATCH)
            return true;
        if (step->type == STEP_FORK)
            p->stack[depth++] = number + (uint32_t)step->other;
        if (step->type == STEP_FORK || step->type == STEP_JUMP)
            p->stack[depth++] = number + (uint32_t)step->to;
        else if (step->type == STEP_CHAR || step->type == STEP_SET)
            list[(*count)++] = number;
        else if (holds(step, at))
            p->stack[depth++] = number + 1;
    }
    return false;
}

static bool takes(const struct krc_pattern *p, const struct step *step, int c)
{
    if (step->type == STEP_CHAR)
        return step->character == c;
    return has(&p->sets[step->to], c);
}

static void next_round(struct krc_pattern *p)
{
    if (++p->round != 0)
        return;
    memset(p->seen, 0, (p->count + 1) * sizeof *p->seen);
    p->round = 1;
}

bool krc_pattern_matches(krc_pattern *p, const char *name)
{
    const uint8_t *c = (const uint8_t *)name;
    struct place at = {.behind = c[0], .is_begin = true, .is_end = c[0] == '\0'};
    size_t count = 0;
    next_round(p);
    while (!reach(p, 0, &at, p->now, &count)) {
        if (*c == '\0')
            return false;
        size_t next_count = 0;
        at = (struct place){.before = c[0], .behind = c[1], .is_end = c[1] == '\0'};
        next_round(p);
        for (size_t i = 0; i < count; i++)
            if (takes(p, &p->steps[p->now[i]], *c) &&
                reach(p, p->now[i] + 1, &at, p->next, &next_count))
                return true;
        uint32_t *other = p->now;
        p->now = p->next;
        p->next = other;
        count = next_count;
        c++;
    }
    return true;
}
