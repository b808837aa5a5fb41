import { Search } from "lucide-react";
import { type ReactElement, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { later } from "../later.tsx";
import { THEMES } from "../look/theme.ts";
import { useOwnLook } from "../look/use-own-look.ts";
import { useMembership } from "../member/membership.ts";
import type { NavigationGroup } from "../parts/navigation-groups.ts";
import { pathOf, useViews } from "../views/use-views.ts";
import type { Entry } from "./entries.ts";
import type { RolePalette } from "./found.ts";

// Most pages never open it.
const loadPalette = async () => await import("./palette.tsx");
const Palette = later(async () => (await loadPalette()).Palette);

/** Opens the palette, as Ctrl or ⌘ with K does. */
export function PaletteButton({
  groups,
  palette,
}: {
  readonly groups: readonly NavigationGroup[];
  readonly palette: RolePalette;
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const known = useKnown(groups, palette, close);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      // Its code is there when the second key comes. A failure shows when it is opened.
      if (event.key === "Control" || event.key === "Meta") loadPalette().catch(() => undefined);
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      if (event.shiftKey || event.altKey) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return (
    <>
      <button
        type="button"
        className="button search-button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <Search size={14} aria-hidden />
        <span className="search-words">Search</span>
        <kbd aria-hidden>{isApple() ? "⌘ K" : "Ctrl K"}</kbd>
      </button>
      {isOpen && <Palette known={known} palette={palette} onClose={close} />}
    </>
  );
}

function useKnown(
  groups: readonly NavigationGroup[],
  palette: RolePalette,
  onClose: () => void,
): readonly Entry[] {
  const membership = useMembership();
  const { base } = membership;
  const [, go] = useLocation();
  const { save } = useOwnLook();
  const open = (group: string, title: string, path: string, detail = ""): Entry => ({
    key: `${group} ${path} ${title}`,
    group,
    title,
    detail,
    path,
    run: () => {
      onClose();
      go(base + path);
    },
  });
  const screens = groups.flatMap(({ title: group, destinations }) =>
    destinations.map(({ path, title }) => open("Screens", title, path, group)),
  );
  const actions = palette.actions(membership).map(({ title, path }) => open("Do", title, path));
  const views = useViews().data?.map((view) => open("Saved views", view.name, pathOf(view))) ?? [];
  const themes = THEMES.map(
    (theme): Entry => ({
      key: `theme ${theme}`,
      group: "Do",
      title: `Theme: ${theme === "system" ? "as the device" : theme}`,
      detail: "",
      path: undefined,
      run: () => {
        onClose();
        save({ theme });
      },
    }),
  );
  return [...screens, ...views, open("Screens", "You", "/you", "Account"), ...actions, ...themes];
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
