/*
 * Tables of text, each column as wide as its widest cell.
 */
#ifndef KRC_CMD_TABLE_H
#define KRC_CMD_TABLE_H

#include <krc.h>
#include <stdio.h>

struct cmd_column {
    const char *title;
    bool is_text; /* to the left; numbers stand to the right */
};

enum { CMD_COLUMNS_MOST = 16 };

struct cmd_table {
    const struct cmd_column *columns;
    size_t width; /* columns */
    char *cells;  /* row by row, each with its NUL */
    size_t len, capacity;
    size_t count; /* of cells */
    int widths[CMD_COLUMNS_MOST]; /* of the widest cell of each column */
    bool failed; /* out of memory */
};

/* The columns must outlive the table.  A cell is added behind the last; once memory was not to be
 * had, none is. */
void cmd_table_init(struct cmd_table *table, const struct cmd_column *columns, size_t width);
void cmd_table_add(struct cmd_table *table, const char *format, ...) KRC_PRINTF(2, 3);

/* "-" for -1: not known. */
void cmd_table_add_number(struct cmd_table *table, int64_t number);

/* Whatever is in a cell, it is fit for a terminal, and columns stand below one another. */
int cmd_table_print(const struct cmd_table *table, FILE *out, krc_error *error) KRC_MUST_USE;
void cmd_table_free(struct cmd_table *table);

#endif
