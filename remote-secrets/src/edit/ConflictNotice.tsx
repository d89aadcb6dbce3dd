import { usePortal, type SecretChange, type OpenerHandle, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { isPortalError, toPortalError, type PortalError } from "@relicario/shared/errors";
import {
  Button,
  Card,
  ErrorNotice,
  media,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { OpenContentPanel, openText } from "./OpenContentPanel.tsx";
import type { EditingSecret } from "./secret-change.ts";

interface ConflictNoticeProps {
  readonly vault: Vault;
  /** The draft that could not be saved. */
  readonly mine: {
    readonly title: string;
    readonly tags: readonly string[];
    readonly content: SecretChange["content"] | undefined;
    readonly text: string;
  };
  /** The version that another device saved meanwhile. */
  readonly theirs: EditingSecret;
  /** The version that this edit started from. */
  readonly base: EditingSecret;
  /** The picture that opened the content during this edit; null when none was shown. */
  readonly editingKeepic: OpenerHandle | null;
  readonly disabled: boolean;
  readonly onSaveMine: () => void;
  readonly onKeepTheirs: () => void;
  /** Null when the draft has no content of its own, so no new secret can be made of it. */
  readonly onSaveAsNew: (() => void) | null;
}

/**
 * Another device saved first: shows both versions and lets the person choose. Until then nothing is
 * overwritten, and the form keeps the draft.
 */
export function ConflictNotice({
  vault,
  mine,
  theirs,
  base,
  editingKeepic,
  disabled,
  onSaveMine,
  onKeepTheirs,
  onSaveAsNew,
}: ConflictNoticeProps) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  const headingRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    headingRef.current?.focus();
  }, []);
  const { size } = getFormats(language);
  const contentDiffers = theirs.version !== base.version;
  const formatTags = (tags: readonly string[]) => (tags.length === 0 ? t("conflict.no_tags_body") : tags.join(", "));
  return (
    <Card role="alert" aria-labelledby="conflict-title">
      <Stack $gap={4}>
        <SectionTitle id="conflict-title" ref={headingRef} tabIndex={-1}>
          {t("conflict.title")}
        </SectionTitle>
        <p>{t("conflict.body")}</p>
        <ComparisonGrid>
          <section aria-labelledby="conflict-mine">
            <h3 id="conflict-mine">{t("conflict.mine_title")}</h3>
            <dl>
              <dt>{t("title.label")}</dt>
              <dd>{mine.title}</dd>
              <dt>{t("tags.label")}</dt>
              <dd>{formatTags(mine.tags)}</dd>
              <dt>{t("conflict.content_label")}</dt>
              <dd>
                {mine.content === undefined ? (
                  t("conflict.same_body")
                ) : mine.content.contentKind === "file" ? (
                  `${mine.content.name}, ${size(mine.content.content.size)}`
                ) : (
                  <pre>{mine.text}</pre>
                )}
              </dd>
            </dl>
          </section>
          <section aria-labelledby="conflict-theirs">
            <h3 id="conflict-theirs">{t("conflict.theirs_title")}</h3>
            <dl>
              <dt>{t("title.label")}</dt>
              <dd>{theirs.title}</dd>
              <dt>{t("tags.label")}</dt>
              <dd>{formatTags(theirs.tags)}</dd>
              <dt>{t("conflict.content_label")}</dt>
              <dd>
                {contentDiffers ? (
                  <TheirContentView vault={vault} theirs={theirs} editingKeepic={editingKeepic} />
                ) : (
                  t("conflict.same_body")
                )}
              </dd>
            </dl>
          </section>
        </ComparisonGrid>
        <SpacedRow>
          <Button disabled={disabled} onClick={onSaveMine}>
            {t("conflict.mine_action")}
          </Button>
          {onSaveAsNew !== null && (
            <Button tone="quiet" disabled={disabled} onClick={onSaveAsNew}>
              {t("conflict.apart_action")}
            </Button>
          )}
          <Button tone="quiet" disabled={disabled} onClick={onKeepTheirs}>
            {t("conflict.theirs_action")}
          </Button>
        </SpacedRow>
        <SmallText>{t("conflict.hint")}</SmallText>
      </Stack>
    </Card>
  );
}

type ContentState =
  | { readonly status: "hidden" }
  | { readonly status: "asking" }
  | { readonly status: "opening" }
  | { readonly status: "open"; readonly text: string }
  | { readonly status: "failed"; readonly error: PortalError };

/**
 * The other device's content. It is opened with `editingKeepic` when there is one, else a picture
 * is asked for.
 */
function TheirContentView({
  vault,
  theirs,
  editingKeepic,
}: Pick<ConflictNoticeProps, "vault" | "theirs" | "editingKeepic">) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  const [contentState, setContentState] = useState<ContentState>({ status: "hidden" });
  const abortController = useRef<AbortController | null>(null);
  useEffect(() => () => abortController.current?.abort(), []);
  if (theirs.contentKind === "file") return `${theirs.name}, ${getFormats(language).size(theirs.size)}`;

  const handleShow = () => {
    if (editingKeepic === null) {
      setContentState({ status: "asking" });
      return;
    }
    const controller = new AbortController();
    abortController.current = controller;
    setContentState({ status: "opening" });
    openText(vault, theirs.secretId, editingKeepic, controller.signal, () => undefined).then(
      (text) => {
        if (!controller.signal.aborted) setContentState({ status: "open", text });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        if (isPortalError(error, "picture_needed")) setContentState({ status: "asking" }); // a lock has put it away
        else setContentState({ status: "failed", error: toPortalError(error) });
      },
    );
  };
  switch (contentState.status) {
    case "open":
      return <pre>{contentState.text}</pre>;
    case "asking":
      return (
        <OpenContentPanel
          vault={vault}
          secretId={theirs.secretId}
          onOpened={(text) => {
            setContentState({ status: "open", text });
          }}
          onClose={() => {
            setContentState({ status: "hidden" });
          }}
        />
      );
    case "hidden":
    case "opening":
    case "failed":
      return (
        <Stack $gap={2}>
          <span>{t("conflict.changed_body")}</span>
          {contentState.status === "failed" && <ErrorNotice error={contentState.error} />}
          <div>
            <Button tone="quiet" size="small" pending={contentState.status === "opening"} onClick={handleShow}>
              {t("conflict.show_action")}
            </Button>
          </div>
        </Stack>
      );
    default:
      return contentState satisfies never;
  }
}

const ComparisonGrid = styled.div`
  display: grid;
  grid-template-columns: repeat(2, minmax(0, 1fr));
  gap: ${space(4)};
  & > section {
    padding: ${space(4)};
    border: 1px solid ${s("border")};
    border-radius: ${s("radius")};
    background: ${s("surfaceSunken")};
  }
  & h3 {
    margin-bottom: ${space(3)};
    font-size: ${s("textBase")};
  }
  & dl {
    margin: 0;
  }
  & dt {
    color: ${s("textMuted")};
    font-size: ${s("textSmall")};
  }
  & dd {
    margin: 0 0 ${space(3)};
    overflow-wrap: anywhere;
  }
  & pre {
    margin: 0;
    max-height: 12rem;
    overflow: auto;
    font-family: ${s("fontMono")};
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  ${media.mobile} {
    grid-template-columns: minmax(0, 1fr);
  }
`;
