import type { ImportQuestion as Question } from "@relicario/shared/contract";

/** Thrown when the files can be read only after the person answers a question. */
export class ImportQuestion extends Error {
  override readonly name = "ImportQuestion";
  readonly question: Question;
  constructor(question: Question) {
    super(question.status);
    this.question = question;
  }
}
