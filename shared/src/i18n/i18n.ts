import { createInstance, type BackendModule, type i18n as I18n, type InitOptions } from "i18next";
import { initReactI18next } from "react-i18next";

import { isolateBidi } from "../contract/bidi-isolation.ts";
import { languages, type Language } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { fallbackLanguage, isLanguage } from "./languages.ts";

/** Texts of one namespace, nested as in its file. */
export type Texts = Readonly<Record<string, unknown>>;

/** Fetches and parses the texts of a namespace. Called again after a rejection. */
export type FetchTexts = (language: Language, namespace: string) => Promise<Texts>;

export interface I18nSettings {
  readonly language: Language;
  /** Replaces `{{product}}` in texts. */
  readonly product: string;
  readonly fetchTexts: FetchTexts;
  /** Texts that must not depend on a fetch, such as those of loading errors. */
  readonly bundledTexts?: Readonly<Partial<Record<Language, Readonly<Record<string, Texts>>>>>;
  /** Namespaces that are loaded before {@link createI18n} resolves. */
  readonly namespaces?: readonly string[];
  /** Called with each key that has no text. */
  readonly onMissingKey?: (key: string) => void;
}

/**
 * Options of loading texts: retries, first delay in milliseconds, and maximum number of parallel
 * loads (specification, section 9). i18next doubles each further delay.
 */
export const textLoadingOptions = { maxRetries: 5, retryTimeout: 350, maxParallelReads: 10 } as const;

/**
 * Creates i18next as specified: loads texts by language, falls back to English, and leaves escaping
 * to React. Isolates right-to-left values, so that they do not reorder a sentence.
 *
 * Waits for the namespaces in the settings. Screens load further namespaces when they need them.
 */
export async function createI18n(settings: I18nSettings): Promise<I18n> {
  const instance = createInstance();
  const { onMissingKey } = settings;
  await instance
    .use(initReactI18next)
    .use(createBackend(settings.fetchTexts))
    .init({
      lng: settings.language,
      supportedLngs: [...languages],
      fallbackLng: fallbackLanguage,
      load: "languageOnly",
      ns: [...(settings.namespaces ?? [])],
      defaultNS: "common",
      partialBundledLanguages: true,
      resources: copyTexts(settings.bundledTexts),
      contextSeparator: "/", // key names contain underscores
      // `escape` isolates directions instead of escaping markup: React renders every text as text.
      interpolation: { escapeValue: true, escape: isolateBidi, defaultVariables: { product: settings.product } },
      returnNull: false,
      saveMissing: onMissingKey !== undefined,
      ...(onMissingKey === undefined
        ? {}
        : {
            missingKeyHandler: (_languages: readonly string[], namespace: string, key: string) => {
              onMissingKey(`${namespace}:${key}`);
            },
          }),
      ...textLoadingOptions,
      react: { useSuspense: true },
    });
  return instance;
}

/** Returns the language of the displayed texts. */
export function getActiveLanguage({ resolvedLanguage }: Pick<I18n, "resolvedLanguage">): Language {
  return isLanguage(resolvedLanguage) ? resolvedLanguage : fallbackLanguage;
}

/**
 * Loads these namespaces in the displayed language. A change of language loads them too. After a
 * failure with all retries of {@link textLoadingOptions} the next call tries again.
 *
 * @throws PortalError `remote_texts_missing`
 */
export async function loadTexts(i18n: I18n, namespaces: readonly string[]): Promise<void> {
  const findMissingNamespaces = (language: Language) =>
    namespaces.filter((namespace) => !i18n.hasResourceBundle(language, namespace));
  let language: Language;
  do {
    language = getActiveLanguage(i18n);
    const missingNamespaces = findMissingNamespaces(language);
    // Joins pending loads of these namespaces, and retries failed ones.
    if (missingNamespaces.length > 0) await i18n.reloadResources([language], missingNamespaces);
    if (findMissingNamespaces(language).length > 0) throw new PortalError("remote_texts_missing");
  } while (language !== getActiveLanguage(i18n)); // changed meanwhile
  // Registers the namespaces for a change of language, which would wait for those that never load.
  // Not awaited: it resolves only when all pending loads have finished.
  void i18n.loadNamespaces([...namespaces]);
}

function createBackend(fetchTexts: FetchTexts): BackendModule {
  return {
    type: "backend",
    callbackApi: true,
    init: () => undefined,
    read: (language, namespace, callback) => {
      fetchTexts(language === "es" ? "es" : "en", namespace).then(
        (texts) => {
          callback(null, texts);
        },
        (error: unknown) => {
          callback(error instanceof Error ? error : new Error("texts did not load: retry"), true); // true: retry
        },
      );
    },
  };
}

function copyTexts(bundled: I18nSettings["bundledTexts"]): NonNullable<InitOptions["resources"]> {
  return Object.fromEntries(
    Object.entries(bundled ?? {}).map(([language, namespaces]) => [language, { ...namespaces }]),
  );
}
