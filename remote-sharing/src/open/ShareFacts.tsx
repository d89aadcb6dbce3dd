import { usePortal, type SharePreview } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Card, markVerbatim, media, Muted, renderVerbatim, s, space, Stack, Verbatim } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

export function ShareFacts({
  preview,
}: {
  readonly preview: Pick<SharePreview, "audience" | "from" | "expiresAt" | "viewsLeft">;
}) {
  const { t } = useTranslation("beta-recover-share");
  const { language } = usePortal();
  const formats = getFormats(language);
  const { audience, from, expiresAt, viewsLeft } = preview;
  return (
    <Card data-tour="share-facts">
      <Stack $gap={4}>
        <Facts>
          <div>
            <dt>{t("look.from_label")}</dt>
            <dd data-name>
              <Verbatim>{from.userName}</Verbatim>
            </dd>
          </div>
          <div>
            <dt>{t("look.until_label")}</dt>
            <dd>
              {t("look.until_body", { when: formats.dateTime(expiresAt), relative: formats.relative(expiresAt) })}
            </dd>
          </div>
          <div>
            <dt>{t("look.views_label")}</dt>
            <dd>{viewsLeft === null ? t("look.views_no_limit_body") : t("look.views_body", { count: viewsLeft })}</dd>
          </div>
        </Facts>
        {audience !== "person" && (
          <Muted>{renderVerbatim(t("look.says_body", { name: markVerbatim(from.userName) }))}</Muted>
        )}
      </Stack>
    </Card>
  );
}

const Facts = styled.dl`
  display: grid;
  grid-template-columns: repeat(3, minmax(0, 1fr));
  gap: ${space(4)};
  & dt {
    color: ${s("textMuted")};
    font-size: ${s("textSmall")};
  }
  & dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  & dd[data-name] {
    font-weight: 650;
  }
  ${media.mobile} {
    grid-template-columns: 1fr;
  }
`;
