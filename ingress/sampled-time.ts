export type Timed = { observe(seconds: number): void };

/** Of the requests of a fast route one in so many is timed: two clocks for each would slow redirects down. */
const REQUESTS_PER_MEASURE = 16;

/** The handler, with its time given to `timed` for one call in {@link REQUESTS_PER_MEASURE}. */
export function sampled<Response, Request, Head>(
  handler: (response: Response, request: Request, head: Head) => void,
  timed: Timed,
): (response: Response, request: Request, head: Head) => void {
  let untilMeasure = REQUESTS_PER_MEASURE;
  return (response, request, head) => {
    untilMeasure -= 1;
    if (untilMeasure > 0) {
      handler(response, request, head);
      return;
    }
    untilMeasure = REQUESTS_PER_MEASURE;
    const startedAtMs = performance.now();
    handler(response, request, head);
    timed.observe((performance.now() - startedAtMs) / 1_000);
  };
}
