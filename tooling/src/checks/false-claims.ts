/**
 * Finds claims about pictures that are false. Without a passphrase anyone with the stored data of
 * an account, the service included, can test pictures (docs/threat-model.md, "The picture").
 */
import type { Language } from "@relicario/shared/contract";

/** Each matches within one sentence. */
const falseClaims: Readonly<Record<Language, readonly RegExp[]>> = {
  en: [
    /\bonly (you|your (picture|image|photo)s?) (alone )?(can |could )?(opens?|reads?|sees?)\b/i,
    /\bonly (you|your (picture|image|photo)s?)\b.* can (open|read|see)\b/i,
    /\b(no one|nobody) (else|but you)\b.*\b(can|could|will)\b.*\b(open|read)\b/i,
    /\bno one in between can (open|read)\b/i,
    /\b(open|opens|opened|read|reads)\b.*\bby (no one|nobody)\b/i,
    /\b(no one|nobody|not even|cannot either|can't either)\b.*\b(opens?|read|recover)\b.*\b(us|we|service)\b/i,
    /\b(no one|nobody)\b.*\b(us|we|service)\b.*\b(opens?|read|recover)\b/i,
    /\b(service|operators?|we|whoever runs)\b.*\b(cannot|can't|could not|never) (open|read|see)\b(?!.*\b(for you|without your picture)\b)/i,
    /\b(cannot|can't|could not|never) (open|read|see) (the|your|its) (secret|content)s?\b(?!.*\bfor you\b)/i,
    /\bonly (the|those|whoever|who)\b.*\b(can|could) (open|read|see)\b/i,
    /\b(encrypted|sealed) (only for|for \w+ (alone|only))\b/i,
    /\b(no one|nobody) (can read|(is|will be) reading)\b/i,
    /\b(picture|image|photo) (is|looks) (good|safe|secure|secret|strong)\b/i,
    /\b(cannot|can't|impossible to) be guessed\b/i,
  ],
  es: [
    /\bsolo tú(?![\p{L}]).*\b(abrir|leer|ver|abres|lees|leerl[oa]s?|abrirl[oa]s?|verl[oa]s?)(?![\p{L}])/iu,
    /\bsolo (l[oa]s? )?(abren?|leen?) tus? (imagen|imágenes|foto)/iu,
    /\bsolo tus? (imagen|imágenes|fotos?)\b.*\b(abren?|leen?)\b/iu,
    /\bnadie (más|salvo tú|excepto tú)(?![\p{L}]).*\b(puede|podrá)(?![\p{L}]).*\b(abrir|leer|abre|lee|abrirl[oa]s?|leerl[oa]s?)(?![\p{L}])/iu,
    /\bnadie\b.*\b(abrir|leer|abre|lee|(abrir|leer|recuperar)l[oa]s?)(?![\p{L}]).*\b(ni siquiera|nosotros tampoco|tampoco nosotros)\b/iu,
    /\bnadie\b.*\b(ni siquiera|nosotros tampoco|tampoco nosotros)\b.*\b(abrir|leer|abrirl[oa]s?|leerl[oa]s?)(?![\p{L}])/iu,
    /\bnadie entre medias\b/iu,
    /\b(servicio|quien(es)? (lleva|gestiona|opera)n?)\b.*\bno (lo |la |los |las )?(puede|pueden|podrán?) (abrir|leer|ver)(?!.*\bsin tu imagen\b)/iu,
    /\bno (puede |pueden |podrán? )?(abrir|leer|ver) (el|los|tus?|su) (secretos?|contenidos?)\b(?!.*\bpor ti\b)/iu,
    /\bsolo (puede|pueden|podrán?) (abrir|leer|ver)l[oa]s? (quien|la persona)/iu,
    /\b(cifrad|sellad)[oa]s? solo para\b/iu,
    /\bnadie ((puede|podrá) leer|(está|estará) leyendo)/iu,
    /\b(imagen|foto) es (buena|segura|secreta|fuerte)(?![\p{L}])/iu,
    /\bno se puede adivinar\b/iu,
  ],
};

/** Advice to send a picture, or to keep it where others may read it. */
const riskyAdvice: Readonly<Record<Language, RegExp>> = {
  en: /\b(send (it to )?yourself|sent to yourself|(keep|put|save|send)\b[^.]*\b(messenger|photo library|album))\b/i,
  es: /\b(envíate|te hayas enviado|(guarda|guárdal[ao]s?|pon|ponl[ao]s?|envía|envíal[ao]s?)\b[^.]*\b(mensajería|fototeca|álbum|galería))(?![\p{L}])/iu,
};

const passphraseMention: Readonly<Record<Language, RegExp>> = {
  en: /passphrase|picture\.online_body/i,
  es: /frase de paso|picture\.online_body/i,
};

/** Sentences of a text that claim what is false, and risky advice without a passphrase. */
export function findFalseClaims(language: Language, text: string): string[] {
  const sentences = text.split(/(?<=[.!?])\s+|\n/u);
  const claims = sentences.filter((sentence) => falseClaims[language].some((claim) => claim.test(sentence)));
  const advice = passphraseMention[language].test(text)
    ? []
    : sentences.filter((sentence) => riskyAdvice[language].test(sentence));
  return [...claims, ...advice];
}
