import type { Language } from "@relicario/shared/contract";

export interface SafeStartOfferProps {
  readonly language: Language;
  /** Titles of the areas that would be left out. */
  readonly areas: readonly string[];
  readonly onChoose: (choice: "leave_out" | "all") => void;
}

const texts = {
  en: {
    title: "The portal did not start the last two times",
    body: "These parts were loaded last. You can start without them. Nothing is deleted.",
    leaveOut: "Start without them",
    all: "Start with all parts",
  },
  es: {
    title: "El portal no se ha iniciado las dos últimas veces",
    body: "Estas partes fueron las últimas en cargarse. Puedes iniciarlo sin ellas. No se borra nada.",
    leaveOut: "Iniciar sin ellas",
    all: "Iniciar con todas las partes",
  },
} as const;

/** Shown before code of any remote is loaded. Uses plain elements only. */
export function SafeStartOffer({ language, areas, onChoose }: SafeStartOfferProps) {
  const { title, body, leaveOut, all } = texts[language];
  return (
    <main className="deployment-problem">
      <section>
        <h1>{title}</h1>
        <p role="alert">{body}</p>
        <ul>
          {areas.map((area) => (
            <li key={area}>{area}</li>
          ))}
        </ul>
        <button
          type="button"
          onClick={() => {
            onChoose("leave_out");
          }}
        >
          {leaveOut}
        </button>
        <button
          type="button"
          onClick={() => {
            onChoose("all");
          }}
        >
          {all}
        </button>
      </section>
    </main>
  );
}
