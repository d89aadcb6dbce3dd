import { languages, usePortal } from "@relicario/shared/contract";
import { Languages, Moon, Sun } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

interface AppearanceTogglesProps {
  readonly renderEntry: (toggle: {
    readonly icon: ReactNode;
    readonly label: string;
    readonly onPress: () => void;
  }) => ReactNode;
}

export function AppearanceToggles({ renderEntry }: AppearanceTogglesProps) {
  const { t } = useTranslation("settings");
  const { language, theme, setLanguage, setTheme } = usePortal();
  const otherLanguage = languages.find((candidate) => candidate !== language) ?? language;
  const otherTheme = theme === "dark" ? "light" : "dark";
  const ThemeIcon = theme === "dark" ? Sun : Moon;
  return (
    <>
      {renderEntry({
        icon: <Languages aria-hidden />,
        label: t(`menu.language_${otherLanguage}_action`),
        onPress: () => {
          setLanguage(otherLanguage);
        },
      })}
      {renderEntry({
        icon: <ThemeIcon aria-hidden />,
        label: t(`menu.theme_${otherTheme}_action`),
        onPress: () => {
          setTheme(otherTheme);
        },
      })}
    </>
  );
}
