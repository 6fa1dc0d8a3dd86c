//! Frequent short words of languages that share a script.
//!
//! Own lists of articles, prepositions, pronouns and auxiliary verbs: what no text of some length can do without. A word
//! that several languages use counts less in each, so lists may overlap. Words are cut by the same rule as pages are.

use super::Language;

/// The words of each language, separated by spaces.
pub(super) const WORDS: &[(Language, &str)] = &[
    (
        Language::English,
        "the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no if out so what up said its about than into them can only other time new some could these may then do first any my now such like our over me even most made after also did many off before must well back through where much your way down should because each just those people how too good very us use more your here get view read see per using used between does without within both when page search home terms privacy policy click next previous however under while until same another if every return value method object function returns",
    ),
    (
        Language::German,
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei hatte kann gegen vom können schon wenn habe seine ihre dann unter wir soll ich eines jahr zwei diese dieser wieder keine seiner worden uns ihrer ihnen ihren ihr ihm mich mir dich bitte hier sowie sehr weitere dieses diesem diesen welche nun alle beim mehrere jedoch müssen finden startseite datenschutz",
    ),
    (
        Language::French,
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec ou son aux sa cette d l ont ses mais comme on tout nous leur vous fait été aussi être deux même ces elle si entre sans peut où y dont tous après sous lui ils bien depuis n s qu c j je tu mon ma mes votre vos notre nos leurs très autre autres avant encore donc lors afin chez vers peu faire cela ainsi moins toute toutes alors était avait ici accueil voir lire utiliser permet méthode valeur",
    ),
    (
        Language::Spanish,
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque qué sólo han yo hay vez puede todos así nos ni parte tiene él uno donde bien tiempo mismo ese ahora cada e otro después te otros aunque esa eso hace otra tan durante siempre día ella sí estos estas nosotros usted pueden ejemplo según cual inicio ver leer página valor método devuelve",
    ),
    (
        Language::Portuguese,
        "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos ter seus quem nas me esse eles estão você tinha foram essa num nem suas meu às minha têm numa pelos elas havia seja qual será nós tenho lhe deles essas esses pelas este dele são pode podem sobre então ainda onde porque cada outro outra outros fazer exemplo valor método página início ver",
    ),
    (
        Language::Italian,
        "di e il la che in a per un è del non una le i si da al con sono della come più dei nel alla ha lo anche gli ma o delle se su ci dal loro nella ai essere stato o quando questo questa era dalla fra tra due suo sua degli agli alle cui sul dopo ad ed c l d dell all nell dall sull un hanno molto tutti tutto così solo prima ancora anni poi perché può fatto chi sia stata quello noi mi ti ne dove ogni altri altro altre questi queste senza oggi già io tuo tua vostro nostri nostra essere viene fare leggi pagina cerca",
    ),
    (
        Language::Dutch,
        "de het een van en in is dat op te zijn met voor niet aan er om als ook dan maar bij door over ze uit nog naar wordt werd zich hebben die hij ik was of je kan meer deze heeft zij worden tot geen wel dit wat al onder veel we wij moet haar zijn hun waar zo tussen na kunnen alleen andere zonder tegen waren had onze ons uw u mijn jaar nu hier hoe wie omdat moeten zal zou waarin deze zoals gebruik gebruikt volgende bekijk lees",
    ),
    (
        Language::Swedish,
        "och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan man när år säger hon under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade alla andra mycket än här då sedan över bara in blir upp även vad få två vill ha många hur mer går sverige detta nya procent utan sina dig din ditt dina du er vår våra mellan någon något genom denna dessa samt enligt inom läs",
    ),
    (
        Language::Danish,
        "og i at det er en til af på for de med den som der har ikke et var han om jeg men vi kan fra sig så eller efter være da hun blev ved skal man nu under over også hvor havde vil ud op ind hvis mere andre når alle end kun min dig du din dit dine mange to noget nogle meget uden være blive bliver sin mod mellem før år selv hvad hvem dette disse denne skulle kunne ville jeres vores deres hvordan læs kommer gør igen",
    ),
    (
        Language::Norwegian,
        "og i å det er en til av på for de med den som har ikke et var han om jeg men vi kan fra seg så eller etter være da hun ble ved skal man nå under over også hvor hadde vil ut opp inn hvis mer andre når alle enn bare min deg du din ditt dine mange to noe noen mye uten bli blir sin mot mellom før år selv hva hvem dette disse denne skulle kunne ville deres vår våre hvordan les kommer gjør igjen etter gjennom både fikk får nei ein ikkje dei frå eg",
    ),
    (
        Language::Finnish,
        "ja on ei se että oli hän mutta joka ovat kun niin tai myös kuin sen mukaan jos ole vain sekä hänen jo ne voi olla nyt mitä minä sitä siitä tämä tämän tässä joita jotka jonka mikä kuitenkin kaikki vielä sitten olisi olivat ollut ettei siinä hyvin myöskään koska niitä niiden jossa josta joissa tätä näin muun muut muita noin ennen jälkeen kanssa paljon voit sinun sinä me he te meidän teidän heidän välillä ilman kautta lisää lue",
    ),
    (
        Language::Icelandic,
        "og í að á er sem til við um með en það af var ekki fyrir hann hún þeir því frá eða hafa þá verið eru ég svo eftir þetta úr þess þar hans upp þegar hefur sér verður þau þeirra vera voru síðan allt eins sig nú mun einnig hér þú mér okkar þín yfir hjá undir milli mjög",
    ),
    (
        Language::Polish,
        "i w na z się do nie że o jest to a jak po przez za od co dla jego oraz tym są ale czy ich było może był tego jako tylko już być ze które który która tak jej lub przed także pod ma go także bardzo więc jeszcze przy można gdzie kiedy jeśli nas was my ja ty mi mnie nam wam bez między nad ten ta te tych tej też się we u roku będzie były była innych innych wszystkie więcej czytaj strona swoje swoich",
    ),
    (
        Language::Czech,
        "a v se na je že o s z do i to k ve by jsem ale pro za si jako od jsou po po které který jeho nebo už jen tak než také byl aby ze může podle bylo při má před však co být která až jak bude své mezi když kde není ještě této tím proto pouze jej jejich jsme tyto tento tuto vám vás nás nám které můžete více jste pokud další roku let které než či také není byla byly",
    ),
    (
        Language::Slovak,
        "a v sa na je že o s z do aj to k vo by som ale pre za si ako od sú po ktoré ktorý jeho alebo už len tak než tiež bol aby zo môže podľa bolo pri má pred však čo byť ktorá až bude svoje medzi keď kde nie ešte tejto tým preto iba ich sme tieto tento túto vám vás nás nám môžete viac ste ak ďalšie roku rokov či bola boli",
    ),
    (
        Language::Hungarian,
        "a az és hogy nem is egy van meg ez de csak volt még már vagy ha el mint azt csak amely aki ki kell ezt minden ami pedig lehet után nagyon fel be le akkor sem úgy így itt ott most sok mert azonban illetve valamint által között szerint során ezek azok nincs lesz voltak több olyan amikor ahol mely melyek saját magyar mi te ő én ön önt vele neki őket ezek alatt mellett miatt",
    ),
    (
        Language::Romanian,
        "de și în a la cu pe care nu o un din este pentru că ce mai au fi se să sunt prin lui sau dar fost al ca sa fie după ei o am ar acest această acesta aceasta până doar între când cum unei unui lor foarte toate tot numai către fără sub asupra despre dacă vă ne îi îl ale ai cele cei cea cel avea are sale său era erau putea poate aici unde noi voi el ea eu tu si",
    ),
    (
        Language::Croatian,
        "i u je se na da za su od s sa o kao a koji koja koje to ili ne što iz ali po bi biti nije samo te do nakon kako već može prema je pri između bio bila bilo jer ako više sve svoje tako također kod ima još ovo ova ovaj toga zbog godine godina kada gdje tijekom će ću koju kojima njegov njihov vrlo dok treba mogu nisu smo ste sam mi vi oni ona on ono li uz bez",
    ),
    (
        Language::Slovenian,
        "in je v na se da za so ki s z pa tudi od kot po ne ali iz bi pri do bil lahko kar ker še še biti je bila bilo bile bili ni med saj le že ko če ta to te tega tem svoje svojo svoj njegov njihov pred zaradi oziroma kako kjer več vse vsi smo ste sem jih jo ga mu nam vam nas vas lahko bo bodo bom brez prav čez skozi zelo",
    ),
    (
        Language::Albanian,
        "të e në dhe i që për me një nga së është si më u do ka nuk ishte kjo ky këtë por edhe pas janë tij saj kanë mund duke ose kur prej tyre gjithë shumë vetëm deri ku ne ju ai ajo ata nëse mbi nën ndër ndërsa jo jam kam cilat cila cili",
    ),
    (
        Language::Lithuanian,
        "ir į iš kad su yra o kaip už tai bet ar buvo ne nuo jo per apie iki po tik jau savo kurie kuri kuris dar jis ji jie jų arba gali pagal būti prie taip pat dėl labai šis ši šio šios tarp jei mūsų jūsų mes jūs aš tu metų metais daugiau kai kur bus turi nėra",
    ),
    (
        Language::Latvian,
        "un ir ar uz no par kas ka pie tas arī kā bet ne to tika vai lai gan bija ja tā pēc jau savu šo līdz var kur viņš viņa tikai kuru kurā ko mēs jūs es tu viņi starp bez pirms pat nav būt būs tiek gada gadā ļoti mūsu jūsu visu visi citi vairāk šī šis",
    ),
    (
        Language::Estonian,
        "ja on ei et see oli ta kui ning ka mis oma aga või selle seda kes veel siis nii olid nad mida välja ole üle pärast kuid juba sest alates kuni ma me te sa meie teie nende tema seal siin olla saab peab tuleb võib võimalik kõik mille millest vahel ilma läbi kohta järgi enne väga aasta aastal",
    ),
    (
        Language::Turkish,
        "ve bir bu da de için ile çok olarak en gibi daha ne o kadar olan sonra ama ya ki var mi mı mu her şey değil ise ancak oldu olduğu olduğunu göre veya tarafından hem bunu büyük iki yeni yıl kendi diye bana ben sen biz siz onlar onun bizim sizin bile şu hiç yok nasıl neden zaman üzerinde arasında içinde önce eden etmek edilen yer ilk",
    ),
    (
        Language::Azerbaijani,
        "və bir bu də üçün ilə edir olan olaraq daha ki o çox sonra onun hər isə kimi görə qədər edən etmək olduğunu tərəfindən deyil var həm amma ya olub ildə il ən öz biz siz mən sən onlar belə lakin həmin digər bütün arasında qeyd barədə azərbaycan",
    ),
    (
        Language::Vietnamese,
        "và của là có trong được các cho một không với những người đã này để khi từ về cũng ra như đến tại vào còn nhiều ở sẽ theo đó sau nhưng hay hoặc trên làm phải năm lại việc bị thì mà rất nếu bạn tôi chúng ta họ anh ông bà bằng qua giữa trước do vì đang nước ngày mới nhất hơn hai",
    ),
    (
        Language::Indonesian,
        "yang dan di dengan untuk dari ini pada adalah itu dalam tidak akan juga ke karena ada oleh sebagai atau bisa dapat saat telah mereka lebih sudah kami kita anda saya dia ia seperti hanya setelah tersebut bahwa para secara antara namun tahun hari banyak masih jika bagi menjadi sangat sebuah lain serta hingga ketika agar maka belum melakukan karena bisnis kepada",
    ),
    (
        Language::Malay,
        "yang dan di dengan untuk dari ini pada adalah itu dalam tidak akan juga ke kerana ada oleh sebagai atau boleh dapat telah mereka lebih sudah kami kita anda saya dia ia seperti hanya selepas tersebut bahawa para antara namun tahun hari banyak masih jika bagi menjadi sangat sebuah lain serta sehingga apabila supaya kepada malaysia beliau berkata turut semasa ialah iaitu",
    ),
    (
        Language::Tagalog,
        "ang ng sa na at mga ay para ito si ni kay hindi rin ko mo siya ako ikaw kami tayo sila niya kanyang nila namin natin aming ating isang isa may mayroon kung pero dahil lamang naman pa nang upang ngunit bilang mula hanggang noong ngayon nito iyon doon dito kaya wala ba po",
    ),
    (
        Language::Catalan,
        "de la i el que a en els les per un amb una és del no al es va l d s se als com més ha o són pel però aquest aquesta seva seu ser també va ser hi ho li entre quan sobre fins sense des dels on han era tot molt té ja només cal així altres any anys pot poden aquests aquestes perquè nostre vostra si ens us em",
    ),
    (
        Language::Galician,
        "de a o que e do da en un para é con non unha os no se na por máis as dos como pero foi ao das ten á seu súa ou ser cando moi hai nos xa está eu tamén só polo pola ata iso ela entre era despois sen mesmo aos ter seus nas unhas uns eles están foron desta deste este esta ano anos onde porque cada outro outra outros galicia ademais así",
    ),
    (
        Language::Basque,
        "eta da ez du bat zen ere dira den dute baina edo izan egin dago bere hau hori zuen zuten dituzte duten ditu beste bi oso izango behar gehiago arte gure zure hau hauek horiek bezala baino batean bidez buruz ondoren urte orain baita gabe nahi dela duela honetan",
    ),
    (
        Language::Welsh,
        "y yn a i o ar yr wedi bod am mae ei eu gan gyda at fel neu oedd nid ond hyn yw er eich ein chi ni fy hi ef nhw sydd yna hefyd wrth cael wneud gwneud mwy rhai roedd dros gymru fod bydd byddai felly pan lle cyn pob un heb rydym rhwng",
    ),
    (
        Language::Irish,
        "an agus na a i ar le go ag is do bhí tá ó sé sí as mar ach nach atá siad seo sin faoi nó chun ina bhfuil raibh bheith gur gach leis den don dá ní níor níl iad mé tú sibh againn againn eile ann idir déanamh éireann gaeilge chuig bliain",
    ),
    (
        Language::Maltese,
        "il u ta li fil ma għal huwa kien hija din dan mill dwar biex fuq jew kienet tal bil għall kull wara aktar bħala hemm minn lil fl f b jista meta kif għandu għandha qed mhux dawn dak dik fejn malta qabel bejn",
    ),
    (
        Language::Swahili,
        "na ya wa kwa ni katika za la kuwa cha hii huo hiyo kama lakini pia au hivyo ili baada kabla mwaka watu yake wake zake hao hayo huyo ambayo ambao ambaye si tu sana bila juu chini kati hadi kila yako wako nchi serikali moja mbili alisema sasa kutoka",
    ),
    (
        Language::Afrikaans,
        "die en van in is het dat te op nie n met vir wat aan as hy was om sy ook deur maar word by uit hulle haar jy ek ons na oor sal kan meer of ander tot was sou moet hierdie wees daar baie nog so hul een geen toe onder jou my dan waar jaar tussen net al gebruik teen",
    ),
    (
        Language::Esperanto,
        "la de kaj en estas al kiu kiuj por ne el ke li ĝi kun per sed aŭ pri ĉi estis kiel tio tiu ankaŭ ili ŝi mi vi ni oni pli plej ĉe post antaŭ ĝis inter sub sur tra se ĉar kiam kie ĉiuj tre nur jam eĉ sia siaj estu havas povas",
    ),
    (
        Language::Latin,
        "et in est non ad ut cum qui quae quod ex sed si de ab per esse sunt nec aut etiam atque eius quam hoc autem enim quid hic haec ille sic ac pro erat fuit eum eo ea suis sua suum inter nunc tamen vel tum quo ipse omnia nos vos mihi tibi nobis",
    ),
    (
        Language::Uzbek,
        "va bu bir uchun bilan ham edi emas da o u ning ni esa deb yil yoki shu lekin keyin barcha har bo ko kerak bor mumkin ular biz siz men sen uning ularning kabi orqali haqida o‘zbekiston yangi eng juda",
    ),
    (
        Language::Russian,
        "и в не на что я с он как это по но они мы она так его за был из у же от о все к для вы если или ее до бы только когда уже еще их есть быть были может этого при того которые который также чтобы том год после под более во со где было нет мне меня вас нас него были себя этот эта эти том чем через этом можно например использовать значение вам является между без",
    ),
    (
        Language::Ukrainian,
        "і в не на що я з він як це до та за й але у по є від про їх його для або які який яка бути було був була вони ми ви вона так також якщо при після коли ще вже під щоб більше через цього цей ця ці всі тільки може можна зі під час нас вас мене собі між без року років має україни дуже де тому навіть інших",
    ),
    (
        Language::Bulgarian,
        "и в на не се да за от с е че по като са той което но със до който му които тя ще а или си то при този бе още след тази може както само също беше има те към ни им вече бъде която това тези между без през повече много над под ако когато където ние вие аз ти го я ги ли нещо всички",
    ),
    (
        Language::Serbian,
        "и у је се на да за су од са о као а који која које то или не што из али по би бити није само те до након како већ може према при између био била било јер ако више све своје тако такође код има још ово ова овај тога због године година када где током ће ћу коју којима његов њихов веома док треба могу нису смо сте сам ми ви они она он ли уз без",
    ),
    (
        Language::Macedonian,
        "и во на се да за од со е дека како по не а што кој која кои го ја ги ќе беше биле бил била или но при до најмногу само исто така ова овој оваа овие тоа тој таа тие ние вие јас ти му ѝ им има сум сме сте може поради меѓу без кога каде после пред над под повеќе сите година години",
    ),
    (
        Language::Belarusian,
        "і ў не на што з у як гэта да за але па ад яго для або які якая якія быць было быў была яны мы вы ён яна так таксама калі пры пасля яшчэ ўжо пад каб больш праз гэтага гэты гэтая ўсе толькі можа можна нас вас мяне сябе паміж без года гадоў мае беларусі вельмі дзе таму нават іх",
    ),
    (
        Language::Kazakh,
        "және бір бұл де да мен үшін деп болып ол осы бойынша болған болады туралы емес жоқ бар оның біз сіз мен сен олар еді екі қазақстан жылы кейін дейін сондай ақ әр өз үлкен жаңа қазақ керек арқылы сол барлық ғана",
    ),
    (
        Language::Mongolian,
        "нь байна юм болон энэ тэр бол байгаа гэж ба бас ч дээр гэсэн болно байсан тухай хүн монгол улсын нэг хоёр бүх өөр олон ямар миний таны бид та би тэд оны хувь их шинэ дараа үед билээ",
    ),
    (
        Language::Arabic,
        "في من على أن إلى التي الذي عن هذا هذه ما لا مع كان كانت قد بعد كل بين أو ذلك غير هو هي إن كما لم ثم قبل عند حيث أي منذ خلال حتى بن عام يوم وقد ولا وفي ومن تم أكثر هناك فيها فيه بها به له لها عليه عليها إذا لكن نحن أنت و لن ليس الى او ان",
    ),
    (
        Language::Persian,
        "و در به از که این را با است برای آن یک خود تا شده می بر هم نیز ها اما باید شد یا کرد های شود دو بود اند هر بین ما شما او آنها کند کرده دارد بودن دیگر پس چه بیش اگر همه باشد سال من تو نمی ای پیش همین وی روی بیشتر استفاده",
    ),
    (
        Language::Urdu,
        "کے کی میں ہے اور سے کا کو اس یہ ہیں نے پر کہ ایک بھی کر نہیں تھا وہ گیا ہو کیا لئے لیے ان ساتھ تھی تھے جو ہوئے تک ہی کوئی اپنے اپنی ہوا ہم آپ تو کرنے بعد ہوتا دیا جا رہا رہے گی گے گا پاکستان جس کچھ سب بہت لیکن یا",
    ),
    (
        Language::Pashto,
        "د په او چې له ته دی ده کې سره هم هغه دا یو نه ړ شوي کوي کړي شو وي خو یا دې پر تر څخه لپاره مې ستاسو موږ تاسو دوی ډېر ټول کړه وه وو به افغانستان کړ",
    ),
    (
        Language::Hindi,
        "के में है की और से का को हैं पर यह एक ने कि भी नहीं कर इस हो था वह लिए जो साथ कहा गया तो या अपने किया रहे ही थे कुछ बाद इसके हुए दिया थी रहा जाता उन्होंने उनके आप हम मैं तक होता सकते करने वाले अब बहुत जब",
    ),
    (
        Language::Marathi,
        "आहे आणि या च्या ते तो ही हा असे आहेत होते होता केली केले मध्ये साठी नाही एक त्या व की पण झाली झाले करण्यात यांनी यांच्या त्यांनी त्यांच्या मी तर हे येथे असून आला आली म्हणून तसेच काही काय मला आपल्या सर्व महाराष्ट्र पुणे मुंबई करून",
    ),
    (
        Language::Nepali,
        "छ को मा र ले छन् हो यो भएको पनि गर्ने लागि गरेको एक थियो गर्न तथा हुने बाट त्यो हुन्छ भने नेपाल गरी रहेको भन्ने यस वा उनले लाई साथै उनी गरिएको हाम्रो तर मात्र सबै नै अनि कुनै भयो हरू हरु नेपाली",
    ),
];
