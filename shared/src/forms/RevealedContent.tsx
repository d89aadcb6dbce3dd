import type { OpenedContent } from "../contract/index.ts";
import { RevealedFile } from "./RevealedFile.tsx";
import { RevealedText } from "./RevealedText.tsx";

export interface RevealedContentProps {
  /** Above the text on paper. */
  readonly title: string;
  readonly openedContent: Pick<OpenedContent, "contentKind" | "name" | "size" | "content" | "save">;
}

/**
 * An opened content: a text or a seed phrase is hidden until asked for, a file is saved. Never
 * rendered as anything else.
 */
export function RevealedContent({ title, openedContent }: RevealedContentProps) {
  const { content, contentKind, name } = openedContent;
  return contentKind === "file" || content === null ? (
    <RevealedFile openedContent={openedContent} />
  ) : (
    <RevealedText title={title} name={name} content={content} numbered={contentKind === "seed"} />
  );
}
