import { get } from "node:http";

const ANSWER_WAIT_MS = 2_000;

/** Whether a GET answers 200 within 2 s. The body is not looked at. */
export function answersOk(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = get(url, { agent: false, timeout: ANSWER_WAIT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once("timeout", () => call.destroy());
    // Refused or reset: not ready. Which of them makes no difference to the one who asks again.
    call.once("error", () => resolve(false));
    call.once("close", () => resolve(false));
  });
}
