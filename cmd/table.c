#include "cmd/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (!table->failed)
        table->cells[table->count++] = text;
}

void cmd_table_add_number(struct cmd_table *table, int64_t number)
{
    if (number == -1)
        cmd_table_add(table, "-");
    else
        cmd_table_add(table, "%" PRId64, number);
}

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static int width_of(const struct cmd_table *table, size_t column)
{
    int width = wider(0, table->columns[column].title);
    for (size_t i = column; i < table->count; i += table->width)
        width = wider(width, table->cells[i]);
    return width;
}

/* No blanks at the line's end. */
static void print_cell(const struct cmd_table *table, size_t column, int width, const char *text)
{
    bool is_last = column + 1 == table->width, is_text = table->columns[column].is_text;
    printf("%*s%c", is_text ? (is_last ? 0 : -width) : width, text, is_last ? '\n' : ' ');
}

int cmd_table_print(const struct cmd_table *table, krc_error *error)
{
    int *widths = calloc(table->width + 1, sizeof *widths);
    if (table->failed || widths == NULL) {
        free(widths);
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    }
    for (size_t c = 0; c < table->width; c++)
        widths[c] = width_of(table, c);
    for (size_t c = 0; c < table->width; c++)
        print_cell(table, c, widths[c], table->columns[c].title);
    for (size_t i = 0; i < table->count; i++)
        print_cell(table, i % table->width, widths[i % table->width], table->cells[i]);
    free(widths);
    return KRC_OK;
}

void cmd_table_free(struct cmd_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
}
