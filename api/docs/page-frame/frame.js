(() => {
  // Runs in the head, before the page is shown: theme and language are known when the browser draws it.
  const root = document.documentElement;
  const LANGUAGES = ["sh", "ts", "python"];

  /** Browsers that keep no data for this site throw. */
  function remembered(name) {
    try {
      return localStorage.getItem(`docs-${name}`) ?? "";
    } catch {
      return "";
    }
  }

  function remember(name, value) {
    root.dataset[name] = value;
    try {
      localStorage.setItem(`docs-${name}`, value);
    } catch {
      // The choice holds until the page is left.
    }
  }

  if (["light", "dark"].includes(remembered("theme"))) root.dataset.theme = remembered("theme");
  root.dataset.language = LANGUAGES.includes(remembered("language"))
    ? remembered("language")
    : "sh";

  document.addEventListener("DOMContentLoaded", () => {
    addCopyButtons();
    addTabs();
    followSections();
    addThemeButton();
    addSearch();
  });

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function addCopyButtons() {
    for (const block of document.querySelectorAll("pre > code")) {
      const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
      button.addEventListener("click", async () => {
        button.textContent = (await copy(block.textContent.trimEnd())) ? "Copied" : "Press Ctrl+C";
        if (button.textContent !== "Copied") getSelection().selectAllChildren(block);
        setTimeout(() => (button.textContent = "Copy"), 2000);
      });
      const pre = block.parentElement;
      const wrapper = element("div", { className: "code" });
      if (pre.dataset.language !== undefined) wrapper.dataset.language = pre.dataset.language;
      pre.replaceWith(wrapper);
      wrapper.append(pre, button);
    }
  }

  /** Whether the text is in the clipboard. Browsers offer the clipboard only to pages of https and of this machine. */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }

  /** One choice of the language for all samples and all pages. */
  function addTabs() {
    const names = { sh: "curl", ts: "TypeScript", python: "Python" };
    const buttons = [];
    const choose = (language) => {
      remember("language", language);
      for (const button of buttons)
        button.setAttribute("aria-selected", String(button.dataset.choice === language));
    };
    for (const samples of document.querySelectorAll(".samples")) {
      const tabs = element("div", { className: "tabs", role: "tablist" });
      for (const language of LANGUAGES) {
        const button = element("button", {
          type: "button",
          role: "tab",
          textContent: names[language],
        });
        button.dataset.choice = language;
        button.addEventListener("click", () => {
          // Samples above have other lengths in another language: the one that was clicked keeps its place.
          const before = button.getBoundingClientRect().top;
          choose(language);
          scrollBy({ top: button.getBoundingClientRect().top - before, behavior: "instant" });
        });
        buttons.push(button);
        tabs.append(button);
      }
      samples.prepend(tabs);
    }
    choose(root.dataset.language);
  }

  /** Marks the sidebar's link to the section that is being read. */
  function followSections() {
    const links = new Map();
    for (const link of document.querySelectorAll("nav a.section")) {
      const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (section !== null) links.set(section, link);
    }
    const observer = new IntersectionObserver(
      (entries) => {
        const entered = entries.find(({ isIntersecting }) => isIntersecting)?.target;
        if (entered === undefined) return;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entered).setAttribute("aria-current", "location");
        links.get(entered).scrollIntoView({ block: "nearest" });
      },
      // A line in the upper part of the window. At most one section is on it.
      { rootMargin: "-25% 0px -74.9% 0px" },
    );
    for (const section of links.keys()) observer.observe(section);
    const menu = document.getElementById("menu");
    document.querySelector('nav a[aria-current="page"]')?.scrollIntoView({ block: "nearest" });
    menu.addEventListener("click", ({ target }) => {
      if (target.closest("a") !== null && menu.matches(":popover-open")) menu.hidePopover();
    });
  }

  function addThemeButton() {
    const button = document.querySelector(".theme-button");
    button.hidden = false;
    button.addEventListener("click", () => {
      const isDark = (root.dataset.theme ?? systemTheme()) === "dark";
      remember("theme", isDark ? "light" : "dark");
    });
  }

  function systemTheme() {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  function addSearch() {
    const dialog = document.querySelector("dialog.search");
    const input = dialog.querySelector("input");
    const list = dialog.querySelector("ul");
    const opener = document.querySelector(".search-button");
    let entries;
    let selected = 0;

    const select = (index) => {
      const links = [...list.querySelectorAll("a")];
      selected = Math.max(0, Math.min(index, links.length - 1));
      links.forEach((link, at) => link.setAttribute("aria-selected", String(at === selected)));
      links[selected]?.scrollIntoView({ block: "nearest" });
    };
    const show = () => {
      const found = entries === undefined ? [] : search(entries, input.value);
      list.replaceChildren(...found.map(resultItem));
      if (found.length === 0 && input.value.trim() !== "" && entries !== undefined)
        list.append(element("li", { className: "search-note", textContent: "Nothing found" }));
      select(0);
    };
    const open = async () => {
      if (dialog.open) return;
      dialog.showModal();
      input.select();
      if (entries !== undefined) return;
      const answer = await fetch(root.dataset.search);
      if (!answer.ok) {
        list.replaceChildren(
          element("li", { className: "search-note", textContent: "The index could not be loaded" }),
        );
        return;
      }
      entries = await answer.json();
      show();
    };
    opener.hidden = false;
    opener.addEventListener("click", () => void open());
    document.addEventListener("keydown", (event) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      const isShortcut =
        (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
      if (!isShortcut) return;
      event.preventDefault();
      void open();
    });
    input.addEventListener("input", show);
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") select(selected + 1);
      else if (event.key === "ArrowUp") select(selected - 1);
      else if (event.key === "Enter") list.querySelectorAll("a")[selected]?.click();
      // The browser would only empty the field.
      else if (event.key === "Escape") dialog.close();
      else return;
      event.preventDefault();
    });
    dialog.addEventListener("click", ({ target }) => {
      if (target === dialog || target.closest("a") !== null) dialog.close();
    });
  }

  const RESULTS_MAX = 40;

  /** Entries that contain every word, best first. An entry is [address, title, place, further text]. */
  function search(entries, typed) {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const scored = entries.flatMap((entry, at) => {
      const [, title, place, text] = entry.map((part) => part.toLowerCase());
      let score = 0;
      for (const word of words) {
        if (title === word) score += 8;
        else if (title.startsWith(word)) score += 5;
        else if (title.includes(word)) score += 4;
        else if (place.includes(word)) score += 2;
        else if (text.includes(word)) score += 1;
        else return [];
      }
      return [{ entry, at, score }];
    });
    scored.sort((a, b) => b.score - a.score || a.at - b.at);
    return scored.slice(0, RESULTS_MAX).map(({ entry }) => entry);
  }

  function resultItem([href, title, place, text]) {
    const link = element(
      "a",
      { href },
      element("b", { textContent: title }),
      element("span", { textContent: place }),
      element("small", { textContent: text }),
    );
    return element("li", {}, link);
  }
})();
