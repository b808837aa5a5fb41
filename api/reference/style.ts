/** Style of the reference page. It is inline, so that the page needs nothing else. */
export const STYLE = `
:root{color-scheme:light dark;--line:#d9dde3;--soft:#f4f6f8;--dim:#5b6573;--link:#0b57a8;--text:#1b2129;--page:#fff}
@media (prefers-color-scheme:dark){:root{--line:#363d47;--soft:#1e242c;--dim:#9aa5b4;--link:#79b8ff;--text:#e3e8ee;--page:#14181d}}
*{box-sizing:border-box}
body{margin:0;font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page)}
.page{display:grid;grid-template-columns:17rem minmax(0,1fr);max-width:84rem;margin:0 auto}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.2rem 1rem;border-right:1px solid var(--line);font-size:13px}
nav b{display:block;margin:1rem 0 .2rem}
nav a{display:flex;padding:.08rem 0;color:inherit;text-decoration:none;overflow-wrap:anywhere}
nav a:hover{text-decoration:underline}
main{padding:1.2rem 2rem 4rem;min-width:0}
h1{font-size:1.7rem;margin:.2rem 0}
h2{font-size:1.3rem;margin:2.4rem 0 .4rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
h3{font-size:1rem;margin:0 0 .3rem}
h4{font-size:.85rem;margin:1rem 0 .3rem;color:var(--dim)}
a{color:var(--link)}
code,pre{font:13px/1.45 ui-monospace,monospace}
code{background:var(--soft);padding:.05rem .25rem;border-radius:3px;overflow-wrap:anywhere}
pre{background:var(--soft);padding:.7rem .9rem;border-radius:5px;overflow:auto;margin:.3rem 0}
pre code{padding:0;background:none;overflow-wrap:normal}
article{border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem;margin:.9rem 0;scroll-margin-top:1rem}
article p{margin:.3rem 0}
summary{cursor:pointer;color:var(--link);margin:.4rem 0}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th,td{text-align:left;vertical-align:top;padding:.25rem .5rem .25rem 0;border-bottom:1px solid var(--line)}
td:first-child{white-space:nowrap}
.method{display:inline-block;flex:none;min-width:3.6rem;font:600 12px ui-monospace,monospace;color:var(--link)}
.dim{color:var(--dim)}
ol.steps>li{margin:.8rem 0}
@media (max-width:60rem){.page{display:block}nav{position:static;height:auto;max-height:16rem;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}td:first-child{white-space:normal;overflow-wrap:anywhere}}
`;
