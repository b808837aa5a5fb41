/** The name of the only test of a file that was not begun because the time of the run was over. */
export const LEFT_OUT = "left out: no time is left";
