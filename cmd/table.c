#include "cmd/table.h"

#include <inttypes.h>
#include <krc-tools.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "cmd/cmd.h"

void cmd_table_init(struct cmd_table *table, const struct cmd_column *columns, size_t width)
{
    *table = (struct cmd_table){.columns = columns, .width = width};
}

static bool grow(struct cmd_table *table)
{
    if (table->count < table->capacity)
        return true;
    size_t capacity = table->capacity == 0 ? 64 : 2 * table->capacity;
    char **cells = realloc(table->cells, capacity * sizeof *cells);
    if (cells == NULL)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

void cmd_table_add(struct cmd_table *table, const char *format, ...)
{
    char *text = NULL;
    if (table->failed || !grow(table)) {
        table->failed = true;
        return;
    }
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
        table->cells[table->count++] = cell;
}

void cmd_table_add_number(struct cmd_table *table, int64_t number)
{
    if (number == -1)
        cmd_table_add(table, "-");
    else
        cmd_table_add(table, "%" PRId64, number);
}

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

static int width_of(const struct cmd_table *table, size_t column)
{
    int width = columns_of(table->columns[column].title);
    for (size_t i = column; i < table->count; i += table->width) {
        int other = columns_of(table->cells[i]);
        width = other > width ? other : width;
    }
    return width;
}

/* No blanks at the line's end. */
static void print_cell(const struct cmd_table *table, size_t column, int width, const char *text,
                       FILE *out)
{
    bool is_last = column + 1 == table->width, is_text = table->columns[column].is_text;
    int blanks = width - columns_of(text);
    if (is_text)
        fprintf(out, "%s%*s", text, is_last ? 0 : blanks, "");
    else
        fprintf(out, "%*s%s", blanks, "", text);
    putc(is_last ? '\n' : ' ', out);
}

int cmd_table_print(const struct cmd_table *table, FILE *out, krc_error *error)
{
    int *widths = calloc(table->width + 1, sizeof *widths);
    if (table->failed || widths == NULL) {
        free(widths);
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    }
    for (size_t c = 0; c < table->width; c++)
        widths[c] = width_of(table, c);
    for (size_t c = 0; c < table->width; c++)
        print_cell(table, c, widths[c], table->columns[c].title, out);
    for (size_t i = 0; i < table->count; i++)
        print_cell(table, i % table->width, widths[i % table->width], table->cells[i], out);
    free(widths);
    return KRC_OK;
}

void cmd_table_free(struct cmd_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
}
