import type { Language } from "@relicario/shared/contract";

/**
 * Names of fields in the texts that become secrets. They are written into a secret once, in the
 * language of the person then.
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
    otp: "One-time password",
    holder: "Name on the card",
    brand: "Brand",
    number: "Number",
    expiry: "Expires",
    code: "Security code",
    pin: "PIN",
    passkey: "Passkey (not here)",
    formerly: "formerly",
    untitled: "Untitled",
    otpSeed:
      "The seed of one-time passwords. Who has it can make the codes of this login: an app for one-time passwords takes it as it stands.",
  },
  es: {
    title: "Título",
    tags: "Etiquetas",
    username: "Usuario",
    email: "Correo",
    password: "Contraseña",
    url: "Sitio web",
    note: "Nota",
    otp: "Contraseña de un solo uso",
    holder: "Titular",
    brand: "Marca",
    number: "Número",
    expiry: "Caduca",
    code: "Código de seguridad",
    pin: "PIN",
    passkey: "Llave de acceso (no está aquí)",
    formerly: "antes",
    untitled: "Sin título",
    otpSeed:
      "La semilla de contraseñas de un solo uso. Quien la tenga puede generar los códigos de este acceso: una aplicación de contraseñas de un solo uso la acepta tal cual.",
  },
} as const satisfies Record<Language, Record<string, string>>;

export type ImportTexts = (typeof textsByLanguage)[Language];
export type ImportTextKey = keyof ImportTexts;

/** In every language, English first: in it stand titles of ours in marks. */
export const allImportTexts: readonly [ImportTexts, ...ImportTexts[]] = [textsByLanguage.en, textsByLanguage.es];

export function getImportTexts(language: Language): ImportTexts {
  return textsByLanguage[language];
}
