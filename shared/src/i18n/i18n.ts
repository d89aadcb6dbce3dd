import { createInstance, type BackendModule, type i18n as I18n, type InitOptions } from "i18next";
import { initReactI18next } from "react-i18next";

import { languages, type Language } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { isolateBidi } from "./bidi-isolation.ts";
import { fallbackLanguage, isLanguage } from "./languages.ts";

/** Texts of one namespace, nested as in its file. */
export type Texts = Readonly<Record<string, unknown>>;

/** Fetches and parses the texts of one namespace. When it rejects, it is called again. */
export type FetchTexts = (language: Language, namespace: string) => Promise<Texts>;

export interface I18nSettings {
  readonly language: Language;
  /** Stands where texts say `{{product}}`. */
  readonly product: string;
  readonly fetchTexts: FetchTexts;
  /** Texts that need not be fetched, such as those that say that something cannot be fetched. */
  readonly bundled?: Readonly<Partial<Record<Language, Readonly<Record<string, Texts>>>>>;
  /** Loaded before {@link createI18n} resolves. */
  readonly namespaces?: readonly string[];
  /** Called with a key that no text was found for. */
  readonly onMissingKey?: (key: string) => void;
}

/**
 * Retries, first pause and parallel reads of a failed load (specification, section 9). i18next
 * doubles the pause itself.
 */
export const textLoadingOptions = { maxRetries: 5, retryTimeout: 350, maxParallelReads: 10 } as const;

/**
 * i18next, set up as specified: loads by language, falls back to English, does not escape (React
 * does), and keeps what reads from right to left from reordering the sentence that it goes into.
 * Namespaces are fetched when a screen asks for them; the ones given are awaited.
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
      resources: copyTexts(settings.bundled),
      contextSeparator: "/", // the underscore is part of key names
      // What would escape markup isolates in its place: React is what keeps markup from being any.
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

/** The language of the texts that are shown. */
export function getActiveLanguage({ resolvedLanguage }: Pick<I18n, "resolvedLanguage">): Language {
  return isLanguage(resolvedLanguage) ? resolvedLanguage : fallbackLanguage;
}

/**
 * Loads the texts of these namespaces in the language that is shown; those of later languages
 * follow a change of language. What did not come, with the repetitions of {@link
 * textLoadingOptions}, is loaded again by the next call.
 *
 * @throws PortalError `remote_unreachable`
 */
export async function loadTexts(i18n: I18n, namespaces: readonly string[]): Promise<void> {
  const findMissingNamespaces = () =>
    namespaces.filter((namespace) => !i18n.hasResourceBundle(getActiveLanguage(i18n), namespace));
  // Makes them known for a change of language. It resolves when all that is being loaded is there:
  // a slow one would hold the others.
  void i18n.loadNamespaces([...namespaces]);
  // Joins what is being loaded, of these alone, and loads again what failed.
  if (findMissingNamespaces().length > 0)
    await i18n.reloadResources([getActiveLanguage(i18n)], findMissingNamespaces());
  if (findMissingNamespaces().length > 0) throw new PortalError("remote_unreachable");
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
          callback(error instanceof Error ? error : new Error("texts did not load"), true); // true: try again
        },
      );
    },
  };
}

function copyTexts(bundled: I18nSettings["bundled"]): NonNullable<InitOptions["resources"]> {
  return Object.fromEntries(
    Object.entries(bundled ?? {}).map(([language, namespaces]) => [language, { ...namespaces }]),
  );
}
