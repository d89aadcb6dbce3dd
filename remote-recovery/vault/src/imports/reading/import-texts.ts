import type { Language } from "@relicario/shared/contract";

/**
 * Names of fields in imported secrets. Written into a secret once, in the person's current
 * language.
 */
const textsByLanguage = {
  en: {
    title: "Title",
    tags: "Tags",
    username: "User name",
    email: "E-mail",
    password: "Password",
    url: "Website",
    note: "Note",
    otp: "One-time code",
    holder: "Name on the card",
    brand: "Brand",
    number: "Number",
    expiry: "Expires",
    code: "Security code",
    pin: "PIN",
    passkey: "Passkey (not here)",
    previous: "previous",
    asInFile: "as in the file",
    wholeLabel: "Name of the next field",
    untitled: "Untitled",
  },
  es: {
    title: "Título",
    tags: "Etiquetas",
    username: "Usuario",
    email: "Correo",
    password: "Contraseña",
    url: "Sitio web",
    note: "Nota",
    otp: "Código de un solo uso",
    holder: "Titular",
    brand: "Marca",
    number: "Número",
    expiry: "Caduca",
    code: "Código de seguridad",
    pin: "PIN",
    passkey: "Llave de acceso (no está aquí)",
    previous: "anterior",
    asInFile: "como en el archivo",
    wholeLabel: "Nombre del campo siguiente",
    untitled: "Sin título",
  },
} as const satisfies Record<Language, Record<string, string>>;

export type ImportTexts = (typeof textsByLanguage)[Language];
export type ImportTextKey = keyof ImportTexts;

/** Texts in all languages. English comes first, because marks use titles in English. */
export const allImportTexts: readonly [ImportTexts, ...ImportTexts[]] = [textsByLanguage.en, textsByLanguage.es];

export function getImportTexts(language: Language): ImportTexts {
  return textsByLanguage[language];
}
