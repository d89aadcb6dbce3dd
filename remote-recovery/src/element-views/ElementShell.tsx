import { PortalContext, type Deployment, type Drives, type Language, type ThemeName } from "@relicario/shared/contract";
import { createI18n, type Texts } from "@relicario/shared/i18n";
import { GlobalStyle } from "@relicario/shared/ui";
import type { ElementVault } from "@relicario/vault/element";
import type { i18n as I18n } from "i18next";
import { useEffect, useMemo, type ReactNode } from "react";
import { I18nextProvider } from "react-i18next";

import { createElementPortal } from "./element-portal.ts";
import { elementTexts } from "./element-texts.ts";

/** What the loader gives to each document of the vault's origin that people see. */
export interface ShellOptions {
  readonly branding: Deployment["branding"];
  readonly drives: Drives;
  /** The host's namespaces `common` and `errors`. */
  readonly texts: Readonly<Record<Language, Readonly<Record<string, Texts>>>>;
}

export function createElementI18n(
  { branding, texts }: Omit<ShellOptions, "drives">,
  language: Language,
): Promise<I18n> {
  const bundledTexts = {
    en: { ...texts.en, ...elementTexts.en },
    es: { ...texts.es, ...elementTexts.es },
  };
  return createI18n({
    language,
    product: branding.product_name,
    bundledTexts,
    fetchTexts: (textLanguage, namespace) =>
      Promise.resolve((bundledTexts[textLanguage] as Readonly<Record<string, Texts>>)[namespace] ?? {}),
  });
}

interface ElementShellProps extends Omit<ShellOptions, "texts"> {
  readonly i18n: I18n;
  readonly language: Language;
  readonly theme: ThemeName;
  readonly userName: string;
  readonly vault: Pick<ElementVault, "onLock">;
  readonly children: ReactNode;
}

/** Language, theme and style of a document of the vault's origin. */
export function ElementShell({
  i18n,
  language,
  theme,
  userName,
  branding,
  drives,
  vault,
  children,
}: ElementShellProps) {
  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dataset["theme"] = theme;
    if (i18n.language !== language) void i18n.changeLanguage(language);
  }, [i18n, language, theme]);
  const portal = useMemo(
    () =>
      createElementPortal({
        language,
        theme,
        userName,
        productName: branding.product_name,
        drives,
        onLock: vault.onLock,
      }),
    [language, theme, userName, branding, drives, vault],
  );
  return (
    <I18nextProvider i18n={i18n}>
      <PortalContext value={portal}>
        <GlobalStyle $colors={branding.colors} />
        {children}
      </PortalContext>
    </I18nextProvider>
  );
}
