/**
 * The lane of closing rows. A writer inserts such a row to use up the deduplication token of an insert that may still arrive and whose own
 * rows nobody has. The row belongs to no workspace, so no report and no list shows it.
 */
export const CLOSING_LANE = 255;
