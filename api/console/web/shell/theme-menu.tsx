import { Menu } from "@base-ui/react/menu";
import { Check, Monitor, Moon, Sun } from "lucide-react";
import type { ReactElement } from "react";
import { THEMES, type Theme, themeOf, useTheme } from "../look/theme.ts";
import { useOwnLook } from "../look/use-own-look.ts";

const WORDS: Readonly<Record<Theme, string>> = {
  system: "System",
  light: "Light",
  dark: "Dark",
};
const ICONS = { system: Monitor, light: Sun, dark: Moon } as const;

/** Chooses the theme of the person. */
export function ThemeMenu(): ReactElement {
  const theme = useTheme();
  const { save } = useOwnLook();
  const Icon = ICONS[theme];
  return (
    <Menu.Root>
      <Menu.Trigger className="button plain icon" aria-label={`Theme: ${WORDS[theme]}`}>
        <Icon size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="above" sideOffset={6} align="end">
          <Menu.Popup className="menu">
            <Menu.RadioGroup
              value={theme}
              onValueChange={(value) => {
                const chosen = themeOf(value);
                if (chosen !== undefined) save({ theme: chosen });
              }}
            >
              {THEMES.map((name) => (
                <Menu.RadioItem key={name} value={name} className="menu-item" closeOnClick>
                  <span className="grow">{WORDS[name]}</span>
                  <Menu.RadioItemIndicator>
                    <Check size={14} aria-hidden />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
