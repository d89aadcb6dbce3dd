import { s, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface PictureAdviceProps {
  readonly open: boolean;
}

const adviceTopics = ["own", "good", "bad", "copies", "changes", "burst", "lost"] as const;

export function PictureAdvice({ open }: PictureAdviceProps) {
  const { t } = useTranslation("provide-image");
  return (
    <Advice open={open}>
      <summary>{t("advice.title")}</summary>
      <ul>
        {adviceTopics.map((topic) => (
          <li key={topic}>{t(`advice.${topic}_body`)}</li>
        ))}
      </ul>
    </Advice>
  );
}

const Advice = styled.details`
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  & > summary {
    display: list-item;
    min-height: 44px;
    padding: ${space(2.5)} ${space(4)};
    border-radius: ${s("radius")};
    font-weight: 600;
    cursor: pointer;
  }
  & > ul {
    display: flex;
    flex-direction: column;
    gap: ${space(1.5)};
    padding: 0 ${space(4)} ${space(4)} ${space(9)};
    list-style: disc;
    max-width: ${s("lineLength")};
    color: ${s("textMuted")};
    font-size: ${s("textSmall")};
  }
`;
