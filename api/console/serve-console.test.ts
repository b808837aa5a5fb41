import { fastify } from "fastify";
import { expect, test } from "vitest";
import { StaticText } from "../http/static-text.ts";
import { serveConsole } from "./serve-console.ts";

const PAGE = "<!doctype html><title>Console</title>";

const app = fastify();
app.setErrorHandler((_error, _request, reply) => reply.code(404).send("none"));
serveConsole(app, {
  apiUrl: "https://api.example",
  files: new Map([
    [
      "index.html",
      {
        text: new StaticText("text/html; charset=utf-8", () => PAGE),
        cacheControl: "no-cache",
      },
    ],
  ]),
});

async function ask(url: string, accept: string | undefined) {
  const headers = accept === undefined ? {} : { accept };
  const { statusCode, body } = await app.inject({ url, headers });
  return [statusCode, body];
}

test.each([undefined, "", "*/*", "text/*", "text/html,*/*;q=0.8"])(
  "the console and its screens answer Accept: %s with the page (#35)",
  async (accept) => {
    for (const url of ["/console/", "/console/offers", "/console/offers/12?tab=caps"])
      expect([url, ...(await ask(url, accept))]).toEqual([url, 200, PAGE]);
  },
);

test.each([
  ["/console/", "application/json"],
  ["/console/offers", "image/avif,image/webp"],
  ["/console/assets/gone.js", "*/*"],
  ["/console/assets/gone.js", "text/html"],
])(
  "%s is 404 for Accept: %s, because a page in its place would be misread",
  async (url, accept) => {
    expect(await ask(url, accept)).toEqual([404, "none"]);
  },
);
