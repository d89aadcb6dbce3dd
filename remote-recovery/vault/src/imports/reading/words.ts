import type { Language } from "@relicario/shared/contract";

/**
 * Names of fields in the texts that become secrets. They are written into a secret once, in the
 * language of the person then.
 */
const words = {
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

export type Words = (typeof words)[Language];
export type Word = keyof Words;

/** In every language, English first: in it stand titles of ours in marks. */
export const allWords: readonly [Words, ...Words[]] = [words.en, words.es];

export function wordsIn(language: Language): Words {
  return words[language];
}
