import { findFalseClaims } from "./false-claims.ts";

describe("findFalseClaims", () => {
  it.each([
    ["en", "No one else, not even the service, can open what you keep."],
    ["en", "No one else can open what you keep, not even the service."],
    ["en", "No one but you can read it, its title or its tags."],
    ["en", "It is sealed on this device. Only you can read it."],
    ["en", "What you keep here is sealed on your device. Only your pictures open it."],
    ["en", "From now on only your picture opens it."],
    ["en", "The operators of this service cannot read it."],
    ["en", "Whoever runs this service cannot read them."],
    ["en", "If you lose every copy, no one can recover it, not even us."],
    ["en", "It is encrypted, and only the person who requested it can open it."],
    ["en", "They can close the link, but can't read the secret."],
    ["en", "It is encrypted for you alone and opens with one of your own pictures."],
    ["en", "If you both see the same words, no one is reading along."],
    ["en", "They need no account, and no one can read it on the way."],
    ["en", "No one can read its content without its link."],
    ["en", "This picture is good"],
    ["es", "Nadie más, ni siquiera el servicio, puede abrir lo que guardas."],
    ["es", "Nadie más puede abrir lo que guardas, ni siquiera el servicio."],
    ["es", "Se sella en este dispositivo. Solo tú puedes leerlo, igual que su título y sus etiquetas."],
    ["es", "Solo lo abren tus imágenes."],
    ["es", "A partir de ahora solo lo abre tu imagen."],
    ["es", "Quien lleva este servicio no puede leerlo."],
    ["es", "Si la pierdes, nadie podrá abrirlos, tampoco nosotros."],
    ["es", "Está cifrado y solo puede abrirlo quien lo pidió."],
    ["es", "Pueden cerrar el enlace, pero no leer el secreto."],
    ["es", "Quien gestiona este servicio puede cerrar el enlace, pero no leer el secreto."],
    ["es", "Está cifrado solo para ti y se abre con una de tus imágenes."],
    ["es", "Si ambas personas ven las mismas, nadie está leyendo por el camino."],
    ["es", "No necesita cuenta, y nadie puede leerlo por el camino."],
    ["es", "Nadie puede leer su contenido sin el enlace."],
    ["es", "Esta imagen es buena"],
  ] as const)("refuses (%s): %s", (language, text) => {
    expect(findFalseClaims(language, text)).toHaveLength(1);
  });

  it.each([
    ["en", "Send yourself the picture, by any messenger, from where you keep it: copies open."],
    ["en", "Keep the original in two places, for example on your computer and in a photo library."],
    ["en", "Show a copy of the picture, for example one that you sent to yourself."],
    ["en", "Put them in different places: another device, a drive, an album with your name on it."],
    ["es", "Envíate la imagen con cualquier mensajería desde donde la guardas: las copias abren."],
    ["es", "Guarda la original en dos sitios, por ejemplo en tu ordenador y en una fototeca."],
    ["es", "Muestra una copia de la imagen, por ejemplo una que te hayas enviado a ti."],
  ] as const)("refuses advice that says nothing of a passphrase (%s): %s", (language, text) => {
    expect(findFalseClaims(language, text)).toHaveLength(1);
    const fact = language === "en" ? "It needs a passphrase." : "Necesita una frase de paso.";
    expect(findFalseClaims(language, `${text} ${fact}`)).toEqual([]);
  });

  it.each([
    ["en", "This picture has enough detail"],
    ["en", "The image and the keys never leave your device."],
    ["en", "If you lose every copy, we can't open the secret for you."],
    ["en", "A passphrase can be guessed without the picture, so choose a strong one."],
    ["en", "No one can bring back what you delete here, not even us."],
    ["es", "Esta imagen tiene suficiente detalle"],
    ["es", "La imagen y las claves nunca salen de tu dispositivo."],
    ["es", "Si pierdes todas las copias, no podemos abrir el secreto por ti."],
    ["es", "Una frase de paso se puede adivinar sin la imagen: elige una segura."],
  ] as const)("accepts (%s): %s", (language, text) => {
    expect(findFalseClaims(language, text)).toEqual([]);
  });
});
