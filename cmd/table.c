#include "cmd/table.h"

#include <inttypes.h>
#include <krc-tools.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "cmd/cmd.h"

/* How many columns of a terminal a text takes, as far as the locale knows (see main). */
static int columns_of(const char *text)
{
    int columns = 0;
    mbstate_t state = {0};
    for (wchar_t c; *text != '\0';) {
        size_t n = mbrtowc(&c, text, strlen(text), &state);
        bool is_known = n > 0 && n <= strlen(text) && wcwidth(c) >= 0;
        columns += is_known ? wcwidth(c) : 1;
        text += is_known ? n : 1;
        if (!is_known)
            state = (mbstate_t){0};
    }
    return columns;
}

void cmd_table_init(struct cmd_table *table, const struct cmd_column *columns, size_t width)
{
    *table = (struct cmd_table){.columns = columns, .width = width};
    for (size_t c = 0; c < width; c++)
        table->widths[c] = columns_of(columns[c].title);
}

static bool grow(struct cmd_table *table, size_t len)
{
    if (len <= table->capacity - table->len)
        return true;
    size_t capacity = table->capacity + table->capacity / 2 + len + 256;
    char *cells = realloc(table->cells, capacity);
    if (cells == NULL)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

static void add(struct cmd_table *table, const char *cell)
{
    size_t len = strlen(cell) + 1;
    int columns = columns_of(cell), *width = &table->widths[table->count % table->width];
    table->failed = !grow(table, len);
    if (table->failed)
        return;
    memcpy(table->cells + table->len, cell, len);
    table->len += len;
    table->count++;
    *width = columns > *width ? columns : *width;
}

void cmd_table_add(struct cmd_table *table, const char *format, ...)
{
    char *text = NULL;
    if (table->failed)
        return;
    va_list args;
    va_start(args, format);
    table->failed = vasprintf(&text, format, args) < 0;
    va_end(args);
    if (table->failed)
        return;
    char *cell = krc_printable_copy(text, strlen(text));
    free(text);
    table->failed = cell == NULL;
    if (cell != NULL)
        add(table, cell);
    free(cell);
}

void cmd_table_add_number(struct cmd_table *table, int64_t number)
{
    if (number == -1)
        cmd_table_add(table, "-");
    else
        cmd_table_add(table, "%" PRId64, number);
}

/* No blanks at the line's end. */
static void print_cell(const struct cmd_table *table, size_t column, const char *text,
                       FILE *out)
{
    bool is_last = column + 1 == table->width, is_text = table->columns[column].is_text;
    int blanks = table->widths[column] - columns_of(text);
    if (is_text)
        fprintf(out, "%s%*s", text, is_last ? 0 : blanks, "");
    else
        fprintf(out, "%*s%s", blanks, "", text);
    putc(is_last ? '\n' : ' ', out);
}

int cmd_table_print(const struct cmd_table *table, FILE *out, krc_error *error)
{
    if (table->failed)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    for (size_t c = 0; c < table->width; c++)
        print_cell(table, c, table->columns[c].title, out);
    const char *cell = table->cells;
    for (size_t i = 0; i < table->count; i++, cell += strlen(cell) + 1)
        print_cell(table, i % table->width, cell, out);
    return KRC_OK;
}

void cmd_table_free(struct cmd_table *table)
{
    free(table->cells);
}
