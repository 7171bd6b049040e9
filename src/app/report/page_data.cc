// The data of a page as elements of its document: facts as JSON with a checksum, and blocks of
// numbers in base64. Pages of runs and of stored patterns share it.
// Read next: page.cc; src/app/report/page/engine/page_data.js, which reads them.
#include <algorithm>

#include "app/report/encoding.h"
#include "app/report/page_html.h"
#include "app/report/page_parts.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {

Json common_facts(const std::string& title, const PageOptions& options) {
  Json facts =
      stamped({{"page", 1}, {"command", options.command}, {"title", title}, {"tolerance", 1e-5}});
  facts["lessons"] = lessons_json();
  facts["owner"] =
      Json::object({{"lift", kOwnerLift}, {"p", kOwnerP}, {"examples", kFewestExamples}});
  return facts;
}

std::string data_html(const Json& facts, const PageBlocks& blocks, Page& page) {
  const std::string text_of_facts = json_for_html(facts.dump());
  std::string html = text("<script type=\"application/json\" id=\"facts\">", text_of_facts,
                          "</script>\n<script type=\"application/octet-stream\" id=\"checksum\">",
                          fnv1a(text_of_facts), "</script>\n");
  page.parts = {{"code", html_code_size()},
                {"lessons", lessons_html().size()},
                {"facts", text_of_facts.size()}};
  for (const PageBlock& block : blocks.all()) {
    const std::string encoded = base64(block.bytes);
    html += text("<script type=\"application/octet-stream\" id=\"", block.id, "\">", encoded,
                 "</script>\n");
    auto part = std::ranges::find(page.parts, block.purpose, &PagePart::name);
    if (part == page.parts.end()) part = page.parts.insert(part, PagePart{block.purpose});
    part->bytes += encoded.size();
  }
  return html;
}

}  // namespace headlab
