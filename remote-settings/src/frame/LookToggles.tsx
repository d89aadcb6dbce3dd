import { languages, usePortal } from "@relicario/shared/contract";
import { Languages, Moon, Sun } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

interface LookTogglesProps {
  /** How an entry of the menu is drawn. */
  readonly entry: (toggle: {
    readonly icon: ReactNode;
    readonly label: string;
    readonly onPress: () => void;
  }) => ReactNode;
}

/** Language and theme of the portal, each switched to the other one. */
export function LookToggles({ entry }: LookTogglesProps) {
  const { t } = useTranslation("settings");
  const { language, theme, setLanguage, setTheme } = usePortal();
  const otherLanguage = languages.find((each) => each !== language) ?? language;
  const otherTheme = theme === "dark" ? "light" : "dark";
  const ThemeIcon = theme === "dark" ? Sun : Moon;
  return (
    <>
      {entry({
        icon: <Languages aria-hidden />,
        label: t(`menu.language_${otherLanguage}_action`),
        onPress: () => {
          setLanguage(otherLanguage);
        },
      })}
      {entry({
        icon: <ThemeIcon aria-hidden />,
        label: t(`menu.theme_${otherTheme}_action`),
        onPress: () => {
          setTheme(otherTheme);
        },
      })}
    </>
  );
}
