// Sets the theme that the person chose, or the system's, and the height of rows before anything is painted.
(() => {
  let chosen = null;
  let density = null;
  try {
    chosen = localStorage.getItem("theme");
    density = localStorage.getItem("table_density");
  } catch {
    // Storage is blocked: follow the system.
  }
  const isDark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  if (density === "dense") document.documentElement.dataset.density = density;
})();
