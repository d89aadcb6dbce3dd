import { usePortal, type OpenedSecret, type SecretChange, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { RequestedOpener, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  Card,
  media,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
  Verbatim,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import type { EditingSecret } from "./secret-change.ts";

interface ConflictNoticeProps {
  readonly vault: Vault;
  /** The rejected draft. */
  readonly mine: {
    readonly title: string;
    readonly tags: readonly string[];
    readonly content: SecretChange["content"] | undefined;
    /** Content as text, for reading. */
    readonly text: string;
  };
  /** The version that another device saved meanwhile. */
  readonly theirs: EditingSecret;
  /** The version that the edit started from. */
  readonly base: EditingSecret;
  readonly disabled: boolean;
  readonly onSaveMine: () => void;
  readonly onKeepTheirs: () => void;
  /** Null if the draft has no new content from which a secret could be created. */
  readonly onSaveAsNew: (() => void) | null;
}

/**
 * Shows both versions after another device saved first, and lets the person choose. Before the
 * choice nothing is overwritten, and the form keeps the draft.
 */
export function ConflictNotice({
  vault,
  mine,
  theirs,
  base,
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
  const formatTags = (tags: readonly string[]) =>
    tags.length === 0 ? t("conflict.no_tags_body") : <Verbatim>{tags.join(", ")}</Verbatim>;
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
              <dd>
                <Verbatim>{mine.title}</Verbatim>
              </dd>
              <dt>{t("tags.label")}</dt>
              <dd>{formatTags(mine.tags)}</dd>
              <dt>{t("conflict.content_label")}</dt>
              <dd>
                {mine.content === undefined ? (
                  t("conflict.same_body")
                ) : mine.content.contentKind === "file" ? (
                  <>
                    <Verbatim>{mine.content.name}</Verbatim>, {size(mine.content.content.size)}
                  </>
                ) : (
                  <pre dir="auto" translate="no">
                    {mine.text}
                  </pre>
                )}
              </dd>
            </dl>
          </section>
          <section aria-labelledby="conflict-theirs">
            <h3 id="conflict-theirs">{t("conflict.theirs_title")}</h3>
            <dl>
              <dt>{t("title.label")}</dt>
              <dd>
                <Verbatim>{theirs.title}</Verbatim>
              </dd>
              <dt>{t("tags.label")}</dt>
              <dd>{formatTags(theirs.tags)}</dd>
              <dt>{t("conflict.content_label")}</dt>
              <dd>{contentDiffers ? <TheirContentView vault={vault} theirs={theirs} /> : t("conflict.same_body")}</dd>
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

function TheirContentView({ vault, theirs }: Pick<ConflictNoticeProps, "vault" | "theirs">) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  const [opened, setOpened] = useState<OpenedSecret | null>(null);
  const operation = useVaultOperation({ vault, keepOpen: vault.keepOpen });
  useEffect(
    () => () => {
      opened?.dispose();
    },
    [opened],
  );
  if (theirs.contentKind === "file") {
    return (
      <>
        <Verbatim>{theirs.name}</Verbatim>, {getFormats(language).size(theirs.size)}
      </>
    );
  }

  const handleShow = () => {
    operation.start({
      run: (options, opener) => vault.openSecret(theirs.secretId, opener, options),
      onDone: setOpened,
      onLateResult: ({ dispose }) => {
        dispose();
      },
    });
  };
  if (opened !== null) return <opened.View title={theirs.title} />;
  return (
    <Stack $gap={2}>
      <span>{t("conflict.changed_body")}</span>
      {!operation.asksOpener && (
        <div>
          <Button tone="quiet" size="small" pending={operation.running} onClick={handleShow}>
            {t("conflict.show_action")}
          </Button>
        </div>
      )}
      <RequestedOpener
        vault={vault}
        operation={operation}
        reason={t("open.reason_body")}
        label={t("open.open_action")}
      />
    </Stack>
  );
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
